// The completions of a process's operations. They may precede the operations in its log: kept until
// all of these are loaded. A part of load_processes().
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

  // For as many as the log's operations can have, whatever it says about completions.
  void make_room();
  // The log has `left` more operations to come.
  void take(const log::UctCompletionView& view, std::size_t left);
  void take(const log::UcpCompletionView& view, std::size_t left);
  // Call it when all operations are in the job's rows, by id.
  void finish();
  // Call it when the MPI calls are loaded, too: for operations that end with the call in which they
  // begin. If its record was lost, or it had not returned, their end is not known.
  void end_with_calls();
  // Ends without an operation in a complete log, or of an operation that has already ended.
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
