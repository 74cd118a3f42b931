// Look-ups in the linked job for makers of rows. Private to log-merger/rows/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/parallel/room_for_rows.hpp"
#include "log-merger/rows/new_texts.hpp"
#include "log-merger/spill/spill.hpp"

namespace uctrace::merge {

class RowMaker {
 protected:
  RowMaker(Job& job, NewTexts& texts) : job_(job), run_(job.run), new_texts_(texts) {}

  UcpOp& ucp(UcpIndex i) { return job_.ucp[i]; }
  ProcessLog& log_of(ProcessIndex process) { return job_.logs[process]; }
  TextId text(std::string_view value) { return new_texts_.id_of(value); }
  TextId text_of_constant(std::string_view value) { return new_texts_.id_of_constant(value); }
  // Most rows have the status of the one before.
  TextId text_of_status(std::int32_t status) {
    if (status_text_ == kNoText || status != status_) {
      status_ = status;
      status_text_ = text(ucs_status_name(status));
    }
    return status_text_;
  }

  std::int32_t rank_of(ProcessIndex process) {
    return process == kNone ? -1 : log_of(process).rank();
  }

  TextId function_of(CallIndex call) { return call == kNone ? kNoText : job_.calls[call].function; }

  // The row of a stack of this process.
  std::int32_t stack_row(ProcessIndex process, std::uint32_t stack) {
    const auto& rows = log_of(process).stack_rows;
    const auto found = rows.find(stack);
    return found == rows.end() ? -1 : found->second.number();
  }

  // The call of another library above UCX that requested an operation; nullptr: none did.
  const LibraryCall* library_call_of(const UcpOp& op) {
    if (op.library_call == kNone) return nullptr;
    return &log_of(op.process).library_calls.calls[op.library_call.place()];
  }

  // The stack of the outermost call that requested an operation; outside of these, the operation's
  // own.
  std::int32_t stack_of_asker(const UcpOp& op) {
    const MpiCall* mpi = op.asked_by != kNone ? &job_.calls[op.asked_by] : nullptr;
    const LibraryCall* call = library_call_of(op);
    if (call != nullptr && (mpi == nullptr || call->start_tick < mpi->start_tick)) {
      return stack_row(op.process, call->stack);
    }
    return mpi != nullptr ? stack_row(mpi->process, mpi->stack) : stack_row(op.process, op.stack);
  }

  TextId comm_name(ProcessIndex process, CommIndex comm) {
    return comm == kNone ? kNoText : log_of(process).comms[comm].name;
  }

  // Rows of Run::communicators are those of Job::comms.
  InstanceIndex communicator_of(ProcessIndex process, CommIndex comm) {
    return comm == kNone ? kNone : log_of(process).comms[comm].instance;
  }

  // The interface of a UCT operation.
  struct Names {
    TextId transport, device, remote_device, memory_domain, op;
    bool network;
  };
  Names names_of(const UctOp& op) {
    Names names{};
    const ProcessLog& log = log_of(op.process);
    if (const Interface* interface = log.interface(op.interface)) {
      names.transport = interface->transport;
      names.device = interface->device;
      names.memory_domain = interface->memory_domain;
      names.network = interface->device_type == log::DeviceType::network;
    }
    if (op.endpoint_row != kNone) {
      names.remote_device = log.endpoints[op.endpoint_row].remote_device;
    }
    names.op = text_of_constant(uct_op_name(op.op));
    return names;
  }

  static TimeFrom end_from(const UctOp& op) {
    return op.one_tick ? TimeFrom::post : TimeFrom::clock;
  }

  static void end_not_before(const UctOp& op, std::int64_t& end_ns, TimeFrom& from) {
    const std::int64_t end = std::max(op.end_ns, op.complete_ns);
    if (end > end_ns) {
      end_ns = end;
      from = end_from(op);
    }
  }

  Job& job_;
  Run& run_;

 private:
  NewTexts& new_texts_;
  std::int32_t status_ = 0;
  TextId status_text_ = kNoText;  // of that one; none yet
};

// Like rows.resize(count), for a table with fewer rows and reserved room if required.
template <typename Row>
void make_room(const Job& job, std::vector<Row>& rows, std::size_t count) {
  const bool is_spilled = spill::bound().most_bytes != 0;
  make_room_for(rows, count, job.workers, !is_spilled);
}

// The messages of the run, and in `UcpOp::message` which one each operation belongs to. Returns the
// UCP operation that began each; kNone: it is not in the logs.
std::vector<UcpIndex> make_messages(Job& job);

}  // namespace uctrace::merge
