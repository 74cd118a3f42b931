#include "log-merger/mpi/open_calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/model/quantities.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamedReceives = 8;  // of a process
constexpr std::size_t kNamedRanks = 16, kNotes = 16;

const ProcessLog& log_of(const Job& job, ProcessIndex process) { return job.logs[process]; }
const Process& row_of(const Job& job, ProcessIndex process) {
  return job.run.processes[process.place()];
}

Json receive_json(const Job& job, const UcpOp& receive) {
  Json json = {
      {"mpi", nullptr},         {"comm", or_null(comm_name(job, receive.process, receive.comm))},
      {"peer", nullptr},        {"tag", nullptr},
      {"bytes", receive.bytes}, {"since_ns", receive.start_ns}};
  if (receive.asked_by != kNone) {
    const MpiCall& call = job.calls[receive.asked_by];
    const bool both = call.recv_peer != log::MpiCall::kNone;
    json["mpi"] = or_null(job.run.texts[call.function]);
    json["peer"] = number_or_any(world_rank(job, call, both ? call.recv_peer : call.peer));
    json["tag"] = number_or_any(both ? call.recv_tag : call.tag);
  }
  return json;
}

// --- notes
// -----------------------------------------------------------------------------------------

struct Place {
  std::string where;  // "in MPI_Recv on MPI_COMM_WORLD, peer 1, tag 5"
  std::string exit;
  auto operator<=>(const Place&) const = default;
};
struct Sitters {
  std::vector<std::int32_t> ranks;
  std::int64_t since_ns = INT64_MAX, longest_ns = 0;
  std::size_t open_receives = 0;
};

std::string place_of(const Job& job, const MpiCall& call) {
  std::string place = "in " + job.run.texts[call.function];
  if (const std::string comm = comm_name(job, call.process, call.comm); !comm.empty()) {
    place += " on " + comm;
  }
  const auto add = [&](const char* what, std::int32_t value) {
    if (value >= 0) place += fmt::format(", {} {}", what, value);
    if (value == log::MpiCall::kAny) place += fmt::format(", any {}", what);
  };
  add(call.on_window ? "target" : "peer", world_rank(job, call, call.peer));
  add("tag", call.tag);
  return place;
}

void add_sitter(const Job& job, ProcessIndex process, const Open& open, std::int64_t since_ns,
                Sitters& sitters) {
  sitters.ranks.push_back(row_of(job, process).rank);
  sitters.since_ns = std::min(sitters.since_ns, since_ns);
  sitters.longest_ns = std::max(sitters.longest_ns, last_instant(log_of(job, process)) - since_ns);
  sitters.open_receives += open.receives.size();
}

std::string sentence_of(const Place& place, const Sitters& sitters) {
  const bool one = sitters.ranks.size() == 1, runs = place.exit == "running";
  std::vector<std::int32_t> named(sitters.ranks.begin(),
                                  sitters.ranks.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                              kNamedRanks, sitters.ranks.size())));
  std::string sentence = fmt::format("{} {}", one ? "rank" : "ranks", fmt::join(named, ", "));
  if (sitters.ranks.size() > named.size()) {
    sentence += fmt::format(" and {} more", sitters.ranks.size() - named.size());
  }
  sentence +=
      runs ? (one ? " is " : " are ") : fmt::format(" ({}) {} ", place.exit, one ? "was" : "were");
  sentence += fmt::format("{}, since {} of the job", place.where,
                          format_duration(static_cast<std::uint64_t>(sitters.since_ns)));
  if (sitters.longest_ns > 0) {
    sentence += fmt::format(", for {}{}", one ? "" : "up to ",
                            format_duration(static_cast<std::uint64_t>(sitters.longest_ns)));
  }
  if (sitters.open_receives > 0) {
    sentence += fmt::format("; open receives: {}", sitters.open_receives);
  }
  return sentence;
}

}  // namespace

std::int64_t last_instant(const ProcessLog& log) {
  return log.clock.anchors().empty() ? -1 : log.clock.job_ns(log.clock.anchors().back().tick);
}

std::string comm_name(const Job& job, ProcessIndex process, CommIndex comm) {
  return comm == kNone ? std::string() : job.run.texts[log_of(job, process).comms[comm].name];
}

std::string call_site(const Job& job, const MpiCall& call) {
  const auto& rows = log_of(job, call.process).stack_rows;
  const auto row = rows.find(call.stack);
  return row == rows.end() ? "" : job.run.texts[call_site_of(job.run, row->second.number())];
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_any(std::int32_t value) {
  if (value == log::MpiCall::kAny) return "any";
  return value < 0 ? Json(nullptr) : Json(value);
}

ByIndex<ProcessLog, Open> find_open(const Job& job) {
  ByIndex<ProcessLog, Open> open(job.logs.size());
  for (const MpiCall& call : job.calls) {
    Open& of_process = open[call.process];
    if (call.open) {
      of_process.calls.push_back(&call);
    } else {
      of_process.last_return_ns = std::max(of_process.last_return_ns, call.end_ns);
    }
  }
  for (const UcpOp& op : job.ucp) {
    if (op.is(log::UcpFamily::tag_receive) && op.accepted() && !op.ended && !op.tool) {
      open[op.process].receives.push_back(&op);
    }
  }
  for (Open& of_process : open) {
    std::stable_sort(of_process.receives.begin(), of_process.receives.end(),
                     [](const UcpOp* a, const UcpOp* b) { return a->start_ns < b->start_ns; });
  }
  return open;
}

Json in_calls_json(const Job& job, const Open& open) {
  Json list = Json::array();
  for (const MpiCall* call : open.calls) {
    const ProcessLog& log = log_of(job, call->process);
    list.push_back({{"mpi", job.run.texts[call->function]},
                    {"call_site", or_null(call_site(job, *call))},
                    {"comm", or_null(comm_name(job, call->process, call->comm))},
                    {"peer", number_or_any(world_rank(job, *call, call->peer))},
                    {"tag", number_or_any(call->tag)},
                    {"thread", log.file.lanes()[call->lane].tid},
                    {"since_ns", call->start_ns},
                    {"for_ns", std::max<std::int64_t>(0, last_instant(log) - call->start_ns)}});
  }
  return list;
}

Json open_receives_json(const Job& job, const Open& open) {
  Json oldest = Json::array();
  for (std::size_t i = 0; i < std::min(kNamedReceives, open.receives.size()); ++i) {
    oldest.push_back(receive_json(job, *open.receives[i]));
  }
  return {{"count", open.receives.size()}, {"oldest", std::move(oldest)}};
}

void note_open_calls(Job& job) {
  std::map<Place, Sitters> places;
  const ByIndex<ProcessLog, Open> all = find_open(job);
  for (const ProcessIndex process : all.indexes()) {
    const Process& row = row_of(job, process);
    const std::string& exit = job.run.texts[row.exit];
    for (const MpiCall* call : all[process].calls) {
      add_sitter(job, process, all[process], call->start_ns, places[{place_of(job, *call), exit}]);
    }
    const std::int64_t returned = all[process].last_return_ns;
    const bool ended_well = exit != "running" && exit != "killed" && exit != "unseen";
    if (all[process].calls.empty() && !ended_well && row.rank >= 0 && returned >= 0) {
      add_sitter(job, process, all[process], returned, places[{"in no MPI call", exit}]);
    }
  }
  std::size_t noted = 0;
  for (const auto& [place, sitters] : places) {
    if (++noted > kNotes) {
      job.run.notes.push_back(fmt::format(
          "processes sit in {} more places; `uctrace info` lists them", places.size() - kNotes));
      break;
    }
    job.run.notes.push_back(sentence_of(place, sitters));
  }
}

}  // namespace uctrace::merge
