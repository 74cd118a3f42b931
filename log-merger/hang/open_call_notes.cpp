#include "log-merger/hang/open_call_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/hang/rank_words.hpp"
#include "log-merger/hang/seat_words.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

namespace {

constexpr std::size_t kNotes = 16;

// The threads that sit in one place.
struct SeatedRanks {
  RankGroup ranks;
  std::int64_t since_ns = INT64_MAX, longest_ns = 0;
  std::size_t open_receives = 0;
  bool ended = false;  // the seat says how
};

// By the seat, and how it ended.
using Places = std::map<std::pair<Seat, std::string>, SeatedRanks>;

class OpenCallNotes {
 public:
  explicit OpenCallNotes(const Job& job)
      : job_(job), sitters_(find_sitters(job)), words_(job, sitters_), open_(find_open(job)) {}

  std::vector<std::string> notes() {
    for (const ProcessIndex process : job_.logs.indexes()) {
      is_rank(job_, process) ? add_rank(process) : add_other(process);
    }
    std::vector<std::string> notes;
    for (const auto& [place, seated] : places_) {
      if (notes.size() == kNotes) {
        notes.push_back(fmt::format("processes sit in {} more places; `uctrace hang` lists them",
                                    places_.size() - kNotes));
        break;
      }
      notes.push_back(sentence(place.first, place.second, seated));
    }
    if (others_ > 0) {
      notes.push_back(fmt::format(
          "{} without a rank in MPI calls that had not returned; `uctrace info --format json` "
          "lists them",
          others_ == 1 ? "1 process" : fmt::format("{} processes", others_)));
    }
    return notes;
  }

 private:
  // Threads outside calls are reported only if no other thread is in a call. A polling thread
  // counts as in a call.
  void add_rank(ProcessIndex process) {
    const auto [begin, end] = sitters_.of[process];
    const auto sits = [&](const Sitter& sitter) {
      return sitter.call != kNone || (sitter.polls > 0 && !words_.has_ended(sitter));
    };
    const auto of_process = sitters_.all.begin();
    const auto first = of_process + static_cast<std::ptrdiff_t>(begin),
               last = of_process + static_cast<std::ptrdiff_t>(end);
    if (std::any_of(first, last, sits)) {
      std::for_each(first, last, [&](const Sitter& one) { sits(one) ? add(one) : void(); });
      return;
    }
    const std::string& exit = exit_of(job_, process);
    const bool ended_well = exit != "running" && exit != "killed" && exit != "unseen";
    const bool called = open_[process].last_return_ns >= 0;
    if (ended_well || !called) return;
    // The one that was in a call last.
    add(*std::max_element(
        first, last, [](const Sitter& a, const Sitter& b) { return a.since_ns < b.since_ns; }));
  }

  void add_other(ProcessIndex process) { others_ += open_[process].calls.empty() ? 0 : 1; }

  void add(const Sitter& sitter) {
    const std::int64_t since_ns = words_.since_ns(sitter);
    SeatedRanks& seated = places_[{words_.seat(sitter), exit_of(job_, sitter.process)}];
    seated.ended = words_.has_ended(sitter);
    seated.since_ns = std::min(seated.since_ns, since_ns);
    const bool lasts = since_ns >= 0 && has_newest_instant(job_.logs[sitter.process]);
    if (lasts) {
      const std::int64_t ns = last_instant(job_.logs[sitter.process]) - since_ns;
      seated.longest_ns = std::max(seated.longest_ns, ns);
    }
    // Several threads of a process may sit in one place.
    std::vector<ProcessIndex>& processes = seated.ranks.processes;
    if (!processes.empty() && processes.back() == sitter.process) return;
    processes.push_back(sitter.process);
    seated.open_receives += open_[sitter.process].receives.size();
  }

  std::string sentence(const Seat& seat, const std::string& exit, const SeatedRanks& seated) const {
    const bool one = seated.ranks.size() == 1;
    const bool says_so = exit == "running" || seated.ended;
    std::string text = fmt::format("{}{} {}", rank_words(job_, seated.ranks, false),
                                   says_so ? "" : fmt::format(" ({})", exit),
                                   seat.words(one, seated.since_ns, seated.longest_ns));
    if (seated.open_receives > 0) text += fmt::format("; open receives: {}", seated.open_receives);
    return text;
  }

  const Job& job_;
  const Sitters sitters_;
  const SeatWords words_;
  const ByIndex<ProcessLog, Open> open_;
  Places places_;
  std::size_t others_ = 0;
};

}  // namespace

void note_open_calls(Job& job) {
  for (std::string& note : OpenCallNotes(job).notes()) job.run.notes.push_back(std::move(note));
}

}  // namespace uctrace::merge
