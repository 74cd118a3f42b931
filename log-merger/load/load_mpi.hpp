// The MPI part of a process's log: communicators, windows, files and calls. A part of
// load_processes().
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/load/caller_stacks.hpp"
#include "log-merger/load/load_datatypes.hpp"

namespace uctrace::merge {

class MpiLoader {
 public:
  MpiLoader(Job& job, ProcessIndex process, CallerStacks& callers)
      : job_(job), process_(process), log_(job.logs[process]), callers_(callers), datatypes_(job) {}

  // Definitions, in any order; finish_definitions() before the first call.
  void take(const log::TextView& text);
  void take(const log::CommunicatorView& view);
  void take(const log::HandleEndView& view);
  void take(const log::WindowView& view);
  void take(const log::DatatypeView& view) { datatypes_.take(view); }
  void finish_definitions();

  void take(std::uint16_t lane, const log::MpiCallView& view);
  void take(std::uint16_t lane, const log::MpiRequestsView& view);
  // Call it when all are taken. Until they are placed, calls count from the process's first.
  void finish_calls();
  void make_room(std::size_t calls) { calls_.reserve(calls); }
  std::size_t calls() const { return calls_.size(); }
  // Puts them into Job::calls, from `first` on.
  void place_calls(std::size_t first);

 private:
  struct CommEvent {
    std::uint64_t handle, tick;
    TextId text;
  };
  struct NewObject {
    std::uint64_t handle, tick, communicator;
  };

  Texts& texts() { return job_.run.texts; }
  Comm* comm_at(const CommEvent& event);
  void take_names_and_ends();
  TextId function(std::uint64_t number) const;
  CommIndex comm_of(log::RecordType type, std::uint64_t scope, std::uint64_t tick) const;
  void count_backward(const std::vector<CallIndex>& calls);
  void take_open_call(std::uint16_t lane, const log::CurrentCall& current);
  void take_lock(MpiCall& call);
  void take_partitions(MpiCall& call);
  void add(MpiCall call);
  void name_requests();

  Job& job_;
  ProcessIndex process_;
  ProcessLog& log_;
  CallerStacks& callers_;
  std::unordered_map<std::uint64_t, TextId> functions_;
  std::vector<CommEvent> comm_names_, comm_ends_;
  std::vector<NewObject> windows_, files_;
  DatatypeLoader datatypes_;
  Rows<MpiCall> calls_;
  // By lane and start of their call, which is recorded after them.
  std::map<std::pair<std::uint16_t, std::uint64_t>, CallRequests> requests_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, CallPartitions> partitions_;
};

}  // namespace uctrace::merge
