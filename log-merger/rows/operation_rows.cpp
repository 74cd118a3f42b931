// The rows of single operations: transfers, UCP operations, MPI calls. Each is made from one record
// and the results of earlier steps about it.
#include <algorithm>
#include <deque>
#include <numeric>
#include <span>
#include <unordered_map>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/job/call_finder.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/memory/transfer_memory.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/rows/build_rows.hpp"
#include "log-merger/rows/row_maker.hpp"

namespace uctrace::merge {

namespace {

class TransferMaker : RowMaker {
 public:
  TransferMaker(Job& job, NewTexts& texts) : RowMaker(job, texts), calls_(job) {}

  static bool has_row(const UctOp& op) { return op.status >= 0; }

  Transfer row_of(UctOp& op) {
    const Names names = names_of(op);
    Transfer row;
    row.process = static_cast<std::uint32_t>(op.process.number());
    row.peer_process = peer_of(job_, op).number();
    row.message = op.serves == kNone ? -1 : ucp(op.serves).message.number();
    if (row.message < 0) find_way_alone(job_, op);
    row.from_memory = op.from.kind;
    row.from_gpu = op.from.gpu;
    row.to_memory = op.to.kind;
    row.to_gpu = op.to.gpu;
    row.transport = names.transport;
    row.device = names.device;
    row.network = names.network;
    row.memory_domain = names.memory_domain;
    row.op = names.op;
    row.reason = text_of_constant(op.reason);
    row.link = op.link;
    row.role = role_of(op);
    row.am_id = op.am_id;
    row.status = op.end_status < 0 ? op.end_status : op.status;
    row.wire_bytes = op.failed() ? 0 : op.bytes;  // it was not traffic
    row.payload_bytes = payload_bytes(op);
    row.local_address = op.local;
    row.remote_address = op.remote;
    row.t_start_ns = op.start_ns;
    row.t_end_ns = op.end_ns;
    row.t_end_from = end_from(op);
    row.t_complete_ns = op.complete_ns;
    if (op.endpoint_row != kNone) {
      const ProcessLog& log = log_of(op.process);
      const Endpoint& endpoint = log.endpoints[op.endpoint_row];
      row.t_connected_ns =
          endpoint.connected_tick != 0 ? log.clock.job_ns(endpoint.connected_tick) : -1;
    }
    row.progressed_in = function_of(calls_.around(op.process, op.lane, op.start_tick));
    row.stack = stack_row(op.process, op.stack);
    return row;
  }

  static void settle(const NewTexts& texts, Transfer& row) {
    texts.settle(row.op);
    texts.settle(row.reason);
  }

 private:
  CallFinder calls_;
};

class UcpOperationMaker : RowMaker {
 public:
  UcpOperationMaker(Job& job, NewTexts& texts) : RowMaker(job, texts) {}

  static bool has_row(const UcpOp& op) { return !op.tool; }

  UcpOperationRow row_of(const UcpOp& op) {
    UcpOperationRow row;
    row.process = static_cast<std::uint32_t>(op.process.number());
    row.peer_process = op.peer_process.number();
    row.message = op.message.number();
    row.endpoint = op.has_endpoint() ? op.handle : 0;
    row.worker_uid = op.has_endpoint() ? op.peer_uid : op.worker_uid;
    row.function = text_of_constant(ucp_function_name(op.function));
    row.asked_by = function_of(op.asked_by);
    row.progressed_in = function_of(op.call);
    if (op.library_call != kNone) {
      row.library_call = static_cast<std::int64_t>(log_of(op.process).library_calls.first_row +
                                                   op.library_call.place());
      row.library_inferred = op.library_inferred;
    }
    row.status = text_of_status(op.ended ? op.end_status : op.status);
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
    return row;
  }

  static void settle(const NewTexts& texts, UcpOperationRow& row) {
    texts.settle(row.function);
    texts.settle(row.status);
    texts.settle(row.believed);
  }

 private:
  void add_memory(const UcpOp& op, UcpOperationRow& row) {
    const ProcessLog& log = log_of(op.process);
    const MemoryPlace place = place_of_buffer(log, op);
    const KnownMemory* memory = log.devices.find(op.memory.own);
    row.memory = place.kind;
    row.gpu = place.gpu;
    row.device_memory = memory != nullptr ? memory->row : kNone;
    row.believed = text_of_constant(name_of(op.memory.believed));
  }

  // The parts known only from an operation's path.
  void take_from_message(const UcpOp& op, UcpOperationRow& row) {
    const Message& message = run_.messages[op.message.place()];
    row.protocol = message.protocol;
    if (op.implicit()) {
      row.status = message.status;
      row.t_end_ns = message.t_end_ns;
      row.t_end_from = message.t_end_from;
    }
  }
};

class MpiCallMaker : RowMaker {
 public:
  MpiCallMaker(Job& job, NewTexts& texts) : RowMaker(job, texts) {}

  static bool has_row(const MpiCall&) { return true; }

  MpiCallRow row_of(const MpiCall& call) {
    MpiCallRow row;
    row.process = static_cast<std::uint32_t>(call.process.number());
    row.lane = call.lane;
    row.function = call.function;
    row.comm = comm_name(call.process, call.comm);
    row.communicator = communicator_of(call.process, call.comm).number();
    row.peer = world_rank(job_, call, call.peer);
    row.tag = call.tag;
    row.recv_peer = world_rank(job_, call, call.recv_peer);
    row.recv_tag = call.recv_tag;
    add_volume(call, row);
    row.status = call.status;
    row.stack = stack_row(call.process, call.stack);
    row.t_start_ns = call.start_ns;
    row.t_end_ns = call.end_ns;
    return row;
  }

  static void settle(const NewTexts&, MpiCallRow&) {}  // its texts were known

 private:
  // A call that only receives has one half, recorded like that of a send. Making a persistent
  // request moves nothing: each start does.
  void add_volume(const MpiCall& call, MpiCallRow& row) {
    const auto [name, fresh] = names_.try_emplace(call.function);
    if (fresh) name->second = parse_mpi_name(run_.texts[call.function]);
    row.datatype = call.datatype.number();
    row.recv_datatype = call.recv_datatype.number();
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
};

// Makes a row for each operation that has one, in order, some parts at a time: freed operations
// make room before there is room for all rows.
template <typename Maker, typename Operation, typename Row>
void add_rows(Job& job, JobRows<Operation>& operations, std::vector<Row>& rows, Operations after) {
  constexpr std::size_t kPart = 8 * 1024, kPartsOfThread = 8;
  const std::size_t parts = (operations.size() + kPart - 1) / kPart;
  std::vector<std::size_t> first(parts + 1);  // row of each part
  const auto end_of = [&](std::size_t part) {
    return std::min(operations.size(), (part + 1) * kPart);
  };
  job.workers.each(parts, [&](std::size_t part) {
    first[part + 1] = static_cast<std::size_t>(std::count_if(
        operations.begin() + static_cast<std::ptrdiff_t>(part * kPart),
        operations.begin() + static_cast<std::ptrdiff_t>(end_of(part)), Maker::has_row));
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  rows.reserve(first.back());
  const std::size_t at_once = kPartsOfThread * job.workers.threads();
  for (std::size_t begin = 0; begin < parts; begin += at_once) {
    const std::size_t count = std::min(at_once, parts - begin);
    make_room(job, rows, first[begin + count]);
    std::deque<NewTexts> texts(count, NewTexts(job.run.texts));
    job.workers.each(count, [&](std::size_t i) {
      const std::size_t part = begin + i;
      Maker maker(job, texts[i]);
      std::size_t row = first[part];
      for (std::size_t op = part * kPart; op < end_of(part); ++op) {
        if (Maker::has_row(operations[op])) rows[row++] = maker.row_of(operations[op]);
      }
    });
    for (NewTexts& of_part : texts) of_part.intern_in(job.run.texts);
    job.workers.each(count, [&](std::size_t i) {
      if (texts[i].empty()) return;
      for (std::size_t row = first[begin + i]; row < first[begin + i + 1]; ++row) {
        Maker::settle(texts[i], rows[row]);
      }
    });
    if (after == Operations::stay) continue;
    const std::size_t with_rows = begin * kPart;
    give_back_memory(std::as_writable_bytes(
        std::span(operations).subspan(with_rows, end_of(begin + count - 1) - with_rows)));
  }
  if (after == Operations::go) operations = {};
}

}  // namespace

void build_transfers(Job& job, Operations after) {
  add_rows<TransferMaker>(job, job.uct, job.run.transfers, after);
}

void build_mpi_calls(Job& job) {
  add_rows<MpiCallMaker>(job, job.calls, job.run.mpi_calls, Operations::stay);
  for (const TimeShare& share : job.shares) {
    job.run.wait_shares.push_back({static_cast<std::uint32_t>(share.call.number()),
                                   share.instance.number(), share.requests, share.ns});
  }
}

void build_ucp_operations(Job& job, Operations after) {
  add_rows<UcpOperationMaker>(job, job.ucp, job.run.ucp_operations, after);
}

}  // namespace uctrace::merge
