// Lays out the linked job as the rows of a Run: the paths of messages, transfers, operations.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/memory/transfer_memory.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/mpi/communicators.hpp"
#include "log-merger/rows/hops.hpp"
#include "log-merger/rows/row_maker.hpp"

namespace uctrace::merge {

namespace {

class RowBuilder : RowMaker {
 public:
  explicit RowBuilder(Job& job) : RowMaker(job) {}

  void build() {
    add_processes();
    add_communicators();
    initiators_ = make_messages(job_);
    ops_of_messages();
    for (std::size_t i = 0; i < run_.messages.size(); ++i) {
      lay_out_path(static_cast<Index>(i));
    }
    add_transfers();
    add_ucp_operations();
    add_mpi_calls();
  }

 private:
  void add_processes() {
    for (ProcessLog& log : job_.logs) {
      const log::ProcessPage& page = log.file.page();
      Process row;
      row.key = text(log.file.process_key());
      row.host = text(log.file.host());
      row.pid = page.pid;
      row.rank = log.rank();
      row.world_size = page.world_size;
      row.world = log.world;
      row.complete = log.file.complete();
      row.exit = text(exit_of(log));
      row.events = log.file.event_count();
      row.log_bytes = log.file.size_bytes();
      run_.processes.push_back(row);
    }
  }

  void add_communicators() {
    for (const CommInstance& comm : job_.comms) {
      const bool only_second = comm.sides[0].world == kNone && comm.sides[1].world != kNone;
      const CommSide& first = comm.sides[only_second ? 1 : 0];
      const CommSide& second = comm.sides[only_second ? 0 : 1];
      Communicator row;
      row.name = comm.name;
      row.user_name = comm.user_name;
      row.function = comm.function;
      row.parent = comm.parent;
      row.world = first.world;
      row.remote_world = second.world;
      row.leader = first.leader;
      row.remote_leader = second.leader;
      row.size = first.size;
      row.remote_size = second.size;
      row.complete = first.complete && (!comm.inter || second.complete);
      row.created_ns = comm.created_ns;
      row.freed_ns = comm.freed_ns;
      row.first_member = static_cast<std::uint32_t>(run_.communicator_members.size());
      for (const CommSide* side : {&first, &second}) {
        for (const log::RankRun& run : side->members) {
          run_.communicator_members.push_back({side == &second, run.first, run.stride, run.count});
        }
      }
      row.members = static_cast<std::uint32_t>(run_.communicator_members.size()) - row.first_member;
      run_.communicators.push_back(row);
    }
  }

  static std::string_view exit_of(const ProcessLog& log) {
    const log::ProcessPage& page = log.file.page();
    if (page.exit == log::ExitKind::aborted) return "aborted";
    if (page.exit == log::ExitKind::exited) return "exited";
    switch (log.file.state()) {
      case log::WriterState::closed:
        return page.exit == log::ExitKind::finalized ? "finalized" : "exited";
      case log::WriterState::running:
        return "running";
      case log::WriterState::unseen:
        return "unseen";
      case log::WriterState::dead:
        break;
    }
    return "killed";
  }

  void ops_of_messages() {
    ops_.resize(run_.messages.size());
    for (std::size_t i = 0; i < job_.uct.size(); ++i) {
      const UctOp& op = job_.uct[i];
      const Index message = op.serves == kNone ? kNone : ucp(op.serves).message;
      if (message != kNone) {
        ops_[static_cast<std::size_t>(message)].push_back(static_cast<Index>(i));
      }
    }
  }

  void name_protocol(Message& m, const UcpOp* initiator, const std::vector<Index>& ops) {
    m.protocol = told_protocol(job_, ops);
    m.protocol_from = ProtocolFrom::ucx;
    if (m.protocol == kNoText) {
      m.protocol = text(derive_protocol(job_, initiator, ops, m.bytes));
      m.protocol_from = m.protocol == kNoText ? ProtocolFrom::none : ProtocolFrom::derived;
    }
  }

  void lay_out_path(Index index) {
    Message& m = run_.messages[static_cast<std::size_t>(index)];
    std::vector<Index>& ops = ops_[static_cast<std::size_t>(index)];
    find_payload(job_, ops);
    const Index initiator = initiators_[static_cast<std::size_t>(index)];
    if (initiator != kNone && ucp(initiator).is_one_sided()) {
      end_with_transfers(m, ucp(initiator), ops);
    }
    const UcpOp* began = initiator == kNone ? nullptr : &ucp(initiator);
    name_protocol(m, began, ops);
    lay_out_hops(job_, index, began, ops);
  }

  // UCP tells the end of a one-sided operation when the initiator's buffer is free, or nobody. The
  // data is in place when the last of its transfers has ended, the target's answer included.
  void end_with_transfers(Message& m, const UcpOp& op, const std::vector<Index>& ops) {
    bool outstanding = ops.empty() && !op.ended;
    std::int32_t failure = 0;
    for (const Index i : ops) {
      const UctOp& transfer = job_.uct[static_cast<std::size_t>(i)];
      outstanding = outstanding || transfer.outstanding();
      failure = std::min(failure, transfer.end_status);
      end_not_before(transfer, m.t_end_ns, m.t_end_from);
    }
    if (outstanding) {
      m.t_end_ns = -1;
    } else if (op.implicit() && op.status >= 0) {
      m.status = text(ucs_status_name(failure));
    }
  }

  void add_transfers() {
    for (UctOp& op : job_.uct) {
      if (op.status < 0) {
        continue;
      }
      const Names names = names_of(op);
      Transfer row;
      row.process = static_cast<std::uint32_t>(op.process);
      row.peer_process = peer_of(job_, op);
      row.message = op.serves == kNone ? kNone : ucp(op.serves).message;
      if (row.message == kNone) find_way_alone(job_, op);
      row.from_memory = op.from.kind;
      row.from_gpu = op.from.gpu;
      row.to_memory = op.to.kind;
      row.to_gpu = op.to.gpu;
      row.transport = names.transport;
      row.device = names.device;
      row.network = names.network;
      row.memory_domain = names.memory_domain;
      row.op = names.op;
      row.reason = text(op.reason);
      row.link = op.link;
      row.role = role_of(op);
      row.am_id = op.am_id;
      row.status = op.end_status < 0 ? op.end_status : op.status;
      row.bytes = op.failed() ? 0 : op.bytes;  // it was not traffic
      row.payload = payload_bytes(op);
      row.local_address = op.local;
      row.remote_address = op.remote;
      row.t_start_ns = op.start_ns;
      row.t_end_ns = op.end_ns;
      row.t_end_from = end_from(op);
      row.t_complete_ns = op.complete_ns;
      if (op.endpoint_row != kNone) {
        const ProcessLog& log = log_of(op.process);
        const Endpoint& endpoint = log.endpoints[static_cast<std::size_t>(op.endpoint_row)];
        row.t_connected_ns =
            endpoint.connected_tick != 0 ? log.clock.job_ns(endpoint.connected_tick) : -1;
      }
      row.progressed_in = function_of(call_around(job_, op.process, op.lane, op.start_tick));
      row.stack = stack_row(op.process, op.stack);
      run_.transfers.push_back(row);
    }
  }

  void add_ucp_operations() {
    for (const UcpOp& op : job_.ucp) {
      if (op.tool) continue;
      UcpOperationRow row;
      row.process = static_cast<std::uint32_t>(op.process);
      row.peer_process = op.peer_process;
      row.message = op.message;
      row.endpoint = op.has_endpoint() ? op.handle : 0;
      row.worker_uid = op.has_endpoint() ? op.peer_uid : op.worker_uid;
      row.function = text(ucp_function_name(op.function));
      row.asked_by = function_of(op.asked_by);
      row.progressed_in = function_of(op.call);
      row.status = text(ucs_status_name(op.ended ? op.end_status : op.status));
      row.bytes = op.bytes;
      row.tag = op.tag;
      row.tag_mask = op.tag_mask;
      row.buffer = op.buffer;
      if (op.has_buffer()) add_memory(op, row);
      row.remote_address = op.remote;
      row.reply_buffer = op.reply_buffer;
      row.header_bytes = op.header_bytes;
      row.received_bytes = op.received_bytes;
      row.sender_tag = op.sender_tag;
      row.stack = stack_row(op.process, op.stack);
      row.t_start_ns = op.start_ns;
      row.t_end_ns = op.end_ns;
      row.t_start_from = op.start_from;
      row.t_end_from = op.end_from;
      if (op.message != kNone) take_from_message(op, row);
      run_.ucp_operations.push_back(row);
    }
  }

  void add_memory(const UcpOp& op, UcpOperationRow& row) {
    const ProcessLog& log = log_of(op.process);
    const MemoryPlace place = place_of_buffer(log, op);
    const KnownMemory* memory = log.devices.find(op.memory.own);
    row.memory = place.kind;
    row.gpu = place.gpu;
    row.device_memory = memory != nullptr ? memory->row : kNone;
    row.believed = text(name_of(op.memory.believed));
  }

  // What only the path of an operation tells.
  void take_from_message(const UcpOp& op, UcpOperationRow& row) {
    const Message& message = run_.messages[static_cast<std::size_t>(op.message)];
    row.protocol = message.protocol;
    if (op.implicit()) {
      row.status = message.status;
      row.t_end_ns = message.t_end_ns;
      row.t_end_from = message.t_end_from;
    }
  }

  void add_mpi_calls() {
    for (const MpiCall& call : job_.calls) {
      MpiCallRow row;
      row.process = static_cast<std::uint32_t>(call.process);
      row.lane = call.lane;
      row.function = call.function;
      row.comm = comm_name(call.process, call.comm);
      row.communicator = communicator_of(call.process, call.comm);
      row.peer = world_rank(job_, call, call.peer);
      row.tag = call.tag;
      row.recv_peer = world_rank(job_, call, call.recv_peer);
      row.recv_tag = call.recv_tag;
      add_volume(call, row);
      row.status = call.status;
      row.stack = stack_row(call.process, call.stack);
      row.t_start_ns = call.start_ns;
      row.t_end_ns = call.end_ns;
      run_.mpi_calls.push_back(row);
    }
    for (const TimeShare& share : job_.shares) {
      run_.wait_shares.push_back(
          {static_cast<std::uint32_t>(share.call), share.instance, share.requests, share.ns});
    }
  }

  // What only receives has one half, which its record tells as it does that of a send. A persistent
  // request moves nothing when it is made: each start of it does.
  void add_volume(const MpiCall& call, MpiCallRow& row) {
    const auto [name, fresh] = names_.try_emplace(call.function);
    if (fresh) name->second = parse_mpi_name(run_.texts[call.function]);
    row.datatype = call.datatype;
    row.recv_datatype = call.recv_datatype;
    if (!name->second.persistent) {
      row.bytes = call.bytes;
      row.recv_bytes = call.recv_bytes;
    }
    if (name->second.only_receives) {
      std::swap(row.bytes, row.recv_bytes);
      std::swap(row.datatype, row.recv_datatype);
    }
  }

  std::unordered_map<TextId, MpiName> names_;
  std::vector<Index> initiators_;        // UCP operations by message; kNone: not in the logs
  std::vector<std::vector<Index>> ops_;  // UCT operations by message
};

}  // namespace

std::int32_t world_rank(const Job& job, const MpiCall& call, std::int32_t peer) {
  if (peer < 0 || call.comm == kNone) {
    return peer;
  }
  return addressed_rank(job, call.process, call.comm, peer).value_or(log::MpiCall::kNone);
}

void build_rows(Job& job) { RowBuilder(job).build(); }

}  // namespace uctrace::merge
