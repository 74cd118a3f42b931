#include "log-merger/hang/seat_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/open_calls.hpp"

namespace uctrace::merge {

std::string Seat::words(bool of_one, std::int64_t since_ns, std::int64_t longest_ns) const {
  std::string text = fmt::format("{} {}", of_one ? one : several, where);
  if (since_ns >= 0) {
    text += fmt::format(" {} {} of the job", since,
                        format_duration(static_cast<std::uint64_t>(since_ns)));
  }
  if (longest_ns > 0) {
    text += fmt::format(", for {}{}", of_one ? "" : "up to ",
                        format_duration(static_cast<std::uint64_t>(longest_ns)));
  }
  return text + more;
}

std::string SeatWords::words(const Sitter& sitter) const {
  std::string text = seat(sitter).words(true, since_ns(sitter));
  const bool polls = sitter.polls > 0 && !has_ended(sitter) && !sitters_.silent[sitter.process];
  return polls ? fmt::format("{}, {} calls without another in between", text, sitter.polls) : text;
}

std::string SeatWords::with_site(CallIndex call) const {
  const MpiCall& row = job_.calls[call];
  const std::string& function = job_.run.texts[row.function];
  const std::string site = call_site(job_, row);
  return site.empty() ? function : function + " at " + site;
}

std::string SeatWords::with_arguments(CallIndex index) const {
  const MpiCall& call = job_.calls[index];
  std::string text = with_site(index);
  if (const std::string comm = comm_name(job_, call.process, call.comm); !comm.empty()) {
    text += " on " + comm;
  }
  const auto add = [&](const char* what, std::int32_t value) {
    if (value >= 0) text += fmt::format(", {} {}", what, value);
    if (value == log::MpiCall::kAny) text += fmt::format(", any {}", what);
  };
  add(call.on_window ? "target" : "peer", world_rank(job_, call, call.peer));
  add("tag", call.tag);
  return text;
}

bool SeatWords::has_ended(const Sitter& sitter) const {
  return sitters_.gone[sitter.process] || exit_of(job_, sitter.process) == "aborted";
}

bool SeatWords::may_ask_for_partitions(const Sitter& sitter) const {
  const auto& lanes = job_.logs[sitter.process].file.lanes();
  return sitter.call == kNone && sitter.last != kNone && sitter.lane < lanes.size() &&
         lane_lives(job_.logs[sitter.process], sitter.lane) &&
         lanes[sitter.lane].counters.mpi_polls > 0;
}

std::int64_t SeatWords::since_ns(const Sitter& sitter) const {
  if (has_ended(sitter)) return -1;
  if (!sitters_.silent[sitter.process]) return sitter.since_ns;
  return std::max<std::int64_t>(0, last_instant(job_.logs[sitter.process]));
}

Seat SeatWords::seat(const Sitter& sitter) const {
  if (has_ended(sitter)) return ended(sitter);
  // For one that cannot be seen: its last known place.
  const std::string& exit = exit_of(job_, sitter.process);
  const bool over = !job_may_run_ || exit == "killed" || exit == "unseen";
  const std::string in = sitter.call == kNone ? "" : "in " + with_arguments(sitter.call);
  if (sitters_.silent[sitter.process]) {
    return {over ? "had" : "has", over ? "had" : "have", "nothing new in the log", "after",
            fmt::format(": the process was stopped, or its host or the file system does not "
                        "answer; then it was {}",
                        in.empty() ? "in no MPI call" : in)};
  }
  if (sitter.polls > 0) {
    return {over ? "polled" : "polls", over ? "polled" : "poll",
            "with " + with_site(sitter.polled)};
  }
  const Seat is = {over ? "was" : "is", over ? "were" : "are", in};
  return in.empty() ? in_no_call(sitter, is) : is;
}

// Others cannot wait for a call that it was in when it ended.
Seat SeatWords::ended(const Sitter& sitter) const {
  const std::string& exit = exit_of(job_, sitter.process);
  if (exit == "aborted") return {"called", "called", "MPI_Abort"};
  const std::string in = sitter.call == kNone ? "" : ", in " + with_arguments(sitter.call);
  if (exit == "killed") {
    return {"was", "were", "killed, or ended without a word, before", "", in};
  }
  return {"has", "have", exit == "finalized" ? "finalized MPI" : "exited", "", in};
}

Seat SeatWords::in_no_call(const Sitter& sitter, Seat seat) const {
  if (!job_.logs[sitter.process].recorded.whole()) {
    seat.where = "in no MPI call that was recorded: parts of the log are missing";
    return seat;
  }
  if (sitter.last == kNone) {
    seat.where = "in no MPI call, and called none";
    return seat;
  }
  seat.where = "in no MPI call";
  seat.more = "; the last one was " + with_site(sitter.last);
  if (!may_ask_for_partitions(sitter)) return seat;
  seat.where += " that has a record";
  seat.more += ", and those of MPI_Parrived that find nothing have none";
  return seat;
}

}  // namespace uctrace::merge
