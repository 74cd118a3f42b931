// The completions of a process's operations, which may come before the operations do in its log:
// kept until all of these are there. A part of load_processes().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class OperationEnds {
 public:
  OperationEnds(Job& job, ProcessIndex process);

  // For as many as operations in the log can have, whatever it says of completions.
  void make_room();
  // The log has `left` more operations to come.
  void take(const log::UctCompletionView& view, std::size_t left);
  void take(const log::UcpCompletionView& view, std::size_t left);
  // When all operations are in the job's rows, by their ids.
  void finish();
  // When the MPI calls are there, too: operations that end with the call they begin with. If its
  // record was lost, or it had not returned, their end is not known.
  void end_with_calls();
  // Those of no operation in a log that has all of them, or of one that has ended.
  std::uint64_t useless() const { return useless_; }
  // What is counted for the job, in the order of the processes.
  void add_totals();

 private:
  struct UctEnd {
    log::Id operation;
    std::uint64_t tick;
    std::int32_t status;
  };
  struct UcpEnd {
    log::Id operation;
    std::int32_t status;
    std::uint64_t tick, sender_tag, length;
    bool of_receive, has_arrival_tick;
  };

  template <typename End, typename Ids>
  void keep(std::vector<End>& ends, const End& end, const Ids& rows_by_id, std::size_t left);
  void end_uct_operations();
  void end_ucp_operations();
  void take_end_of_outside(const UcpEnd& end);

  Job& job_;
  const ProcessIndex process_;
  ProcessLog& log_;
  std::vector<UctEnd> uct_ends_;
  std::vector<UcpEnd> ucp_ends_;
  std::uint64_t uct_completions_ = 0, ucp_completions_ = 0;
  std::uint64_t taken_ = 0, useless_ = 0;
  std::vector<OutsideReceive> outside_receives_;
};

}  // namespace uctrace::merge
