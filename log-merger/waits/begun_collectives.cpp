#include "log-merger/waits/begun_collectives.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "log-merger/waits/completed_messages.hpp"

namespace uctrace::merge {

namespace {

// With several requests, the record must tell which ended, unless all did.
bool is_known_to_end(const Job& job, CallIndex index) {
  const MpiCall& call = job.calls[index];
  if (call.open) return false;
  const auto& several = job.logs[call.process].call_requests;
  const auto requests = several.find(index);
  return requests == several.end() || tells_what_ended(job, call, requests->second);
}

class BegunBy {
 public:
  BegunBy(const Job& job, ProcessIndex process) : job_(job), process_(process) {}

  void add(const EntryOfCall& begun) { completed_.try_emplace(begun); }

  void complete(const EntryOfCall& begun, CallIndex waiting) {
    const auto found = completed_.find(begun);
    if (found == completed_.end() || !is_known_to_end(job_, waiting)) return;
    CallIndex& first = found->second;
    if (first == kNone || job_.calls[waiting].end_tick < job_.calls[first].end_tick) {
      first = waiting;
    }
  }

  std::vector<BegunCollective> rows() const {
    std::vector<BegunCollective> rows;
    for (const auto& [begun, completed] : completed_) {
      rows.push_back({.process = static_cast<std::uint32_t>(process_.number()),
                      .begun = begun.entered.number(),
                      .made = begun.told_by.number(),
                      .completed = completed == kNone ? -1 : completed.number(),
                      .bytes = job_.calls[begun.told_by].bytes,
                      .recv_bytes = job_.calls[begun.told_by].recv_bytes});
    }
    return rows;
  }

 private:
  const Job& job_;
  ProcessIndex process_;
  std::map<EntryOfCall, CallIndex> completed_;
};

}  // namespace

std::vector<BegunCollective> begun_collectives(const Job& job, ProcessIndex process,
                                               RolesOfCalls& roles,
                                               const std::vector<CompletedOperation>& completed) {
  const ProcessLog& log = job.logs[process];
  BegunBy begun_by(job, process);
  for (const auto& lane : log.calls_of_lane) {
    for (const CallIndex index : lane) {
      const RoleOfCall role = roles(job.calls[index]);
      if (role.begins && is_collective(role.role)) begun_by.add(index);
    }
  }
  for (const auto& [start, makers] : log.makers_of_started) {
    for (const CallIndex maker : makers) {
      const bool is_known = maker != kNone && roles.starts(job.calls[maker]) != CallRole::other;
      if (is_known) begun_by.add({start, maker});
    }
  }
  for (const auto& [waiting, begun] : completed) begun_by.complete(begun, waiting);
  return begun_by.rows();
}

}  // namespace uctrace::merge
