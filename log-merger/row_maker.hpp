// What makers of rows look up in the linked job. Private to rows.cpp and message_rows.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "log-merger/job.hpp"

namespace uctrace::merge {

class RowMaker {
 protected:
  explicit RowMaker(Job& job) : job_(job), run_(job.run) {}

  UcpOp& ucp(Index i) { return job_.ucp[static_cast<std::size_t>(i)]; }
  ProcessLog& log_of(Index process) { return job_.logs[static_cast<std::size_t>(process)]; }
  TextId text(std::string_view value) { return run_.texts.intern(value); }

  std::int32_t rank_of(Index process) { return process == kNone ? -1 : log_of(process).rank(); }

  TextId function_of(Index call) {
    return call == kNone ? kNoText : job_.calls[static_cast<std::size_t>(call)].function;
  }

  // Row of a stack that this process took.
  std::int32_t stack_row(Index process, std::uint32_t stack) {
    const auto& rows = log_of(process).stack_rows;
    const auto found = rows.find(stack);
    return found == rows.end() ? kNone : found->second;
  }

  // Of the call that asked for an operation; outside of MPI that is the operation's own.
  std::int32_t stack_of_asker(const UcpOp& op) {
    if (op.asked_by == kNone) return stack_row(op.process, op.stack);
    const MpiCall& call = job_.calls[static_cast<std::size_t>(op.asked_by)];
    return stack_row(call.process, call.stack);
  }

  TextId comm_name(Index process, Index comm) {
    return comm == kNone ? kNoText : log_of(process).comms[static_cast<std::size_t>(comm)].name;
  }

  // Rows of Run::communicators are those of Job::comms.
  Index communicator_of(Index process, Index comm) {
    return comm == kNone ? kNone : log_of(process).comms[static_cast<std::size_t>(comm)].instance;
  }

  Job& job_;
  Run& run_;
};

// The messages of the run, and in `UcpOp::message` which one each operation belongs to. Returns the
// UCP operation that began each; kNone: it is not in the logs.
std::vector<Index> make_messages(Job& job);

}  // namespace uctrace::merge
