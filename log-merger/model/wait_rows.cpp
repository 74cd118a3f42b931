#include "log-merger/model/wait_rows.hpp"

#include <iterator>

namespace uctrace {

const char* name_of(WaitKind kind) {
  static constexpr const char* kNames[] = {"late_sender",
                                           "late_receiver",
                                           "wrong_order",
                                           "wait_barrier",
                                           "barrier_completion",
                                           "wait_nxn",
                                           "nxn_completion",
                                           "late_broadcast",
                                           "early_reduce",
                                           "early_scan",
                                           "rma_wait_at_create",
                                           "rma_wait_at_fence",
                                           "rma_late_post",
                                           "rma_early_wait",
                                           "rma_lock_contention",
                                           "partitioned_late_sender",
                                           "partitioned_late_receiver",
                                           "nonblocking_collective",
                                           "wait_finalize"};
  static_assert(std::size(kNames) == kWaitKinds);
  const auto place = static_cast<std::size_t>(kind);
  return place < std::size(kNames) ? kNames[place] : "?";
}

bool is_waiting(WaitKind kind) {
  return kind != WaitKind::barrier_completion && kind != WaitKind::nxn_completion;
}

bool is_in_totals(WaitKind kind) { return is_waiting(kind) && kind != WaitKind::wait_finalize; }

const char* name_of(WaitUnknown unknown) {
  static constexpr const char* kNames[] = {"none",    "below_clock_bound", "clocks",
                                           "partner", "members",           "request"};
  const auto place = static_cast<std::size_t>(unknown);
  return place < std::size(kNames) ? kNames[place] : "?";
}

const char* name_of(DependencyKind kind) {
  static constexpr const char* kNames[] = {
      "message", "receiver",   "partitions", "partitioned_receiver",
      "member",  "lower_rank", "operation",  "epoch"};
  const auto place = static_cast<std::size_t>(kind);
  return place < std::size(kNames) ? kNames[place] : "?";
}

}  // namespace uctrace
