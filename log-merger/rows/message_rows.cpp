// The messages: a send with its receive, a one-sided operation, or a receive whose send is not in
// the logs.
#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <utility>

#include "log-merger/job/operation_worker.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/mpi/communicators.hpp"
#include "log-merger/mpi/tag_layout.hpp"
#include "log-merger/parallel/sorted_lists.hpp"
#include "log-merger/rows/row_maker.hpp"

namespace uctrace::merge {

namespace {

// By the handler's call that they belong to.
using DataReceives = std::unordered_map<UcpIndex, UcpIndex>;

class MessageMaker : RowMaker {
 public:
  MessageMaker(Job& job, NewTexts& texts, const DataReceives& data_receives)
      : RowMaker(job, texts), data_receives_(data_receives) {}

  // From the operation that begins it, or from a receive whose send is not in the logs.
  Message make(UcpIndex head) {
    const UcpOp& op = ucp(head);
    return op.is_send()        ? message_of_send(op)
           : op.is_one_sided() ? message_of_one_sided(op)
                               : message_of_receive(head);
  }

 private:
  static MessageKind kind_of(const UcpOp& op) {
    switch (op.family()) {
      case log::UcpFamily::put:
        return MessageKind::put;
      case log::UcpFamily::get:
        return MessageKind::get;
      case log::UcpFamily::atomic:
        return MessageKind::atomic;
      case log::UcpFamily::am_send:
      case log::UcpFamily::am_receive:
        return MessageKind::am;
      case log::UcpFamily::stream_send:
      case log::UcpFamily::stream_receive:
        return MessageKind::stream;
      default:
        return MessageKind::tag;
    }
  }

  void fill_common(Message& m, const UcpOp& op, std::uint64_t ucp_tag) {
    m.kind = kind_of(op);
    m.match = op.match;
    if (m.kind != MessageKind::tag) {
      return;
    }
    m.ucp_tag = ucp_tag;
    if (const auto tag = decode_tag(log_of(op.process).flavour, ucp_tag)) {
      m.has_tag = !tag->collective;  // a collective's tag is its library's own
      m.tag = m.has_tag ? tag->tag : 0;
    }
  }

  MemoryPlace own_memory(const UcpOp& op) { return place_of_buffer(log_of(op.process), op); }

  // For the receive that took the data; for an active message, the receive that its handler called
  // for it, if any.
  MemoryPlace received_into(UcpIndex receive) {
    const auto data = data_receives_.find(receive);
    return own_memory(ucp(data != data_receives_.end() ? data->second : receive));
  }

  MemoryPlace memory_without_operation(ProcessIndex process) {
    return process == kNone ? MemoryPlace{} : place_without_operation(log_of(process));
  }

  // The target knows its memory, the initiator the time of use.
  MemoryPlace target_memory(const UcpOp& op) {
    if (op.peer_process == kNone) return {};
    const std::int64_t end_ns = std::max(op.start_ns, op.end_ns);
    return place_at(log_of(op.peer_process), op.remote,
                    {op.start_ns, end_ns,
                     clock_margin_ns(job_, op.process, op.start_ns, op.peer_process, end_ns)});
  }

  // An empty message has no memory, however large the offered buffers are.
  static void set_memory(Message& m, MemoryPlace src, MemoryPlace dst) {
    if (m.bytes == 0 && m.kind != MessageKind::am) src = dst = kHostPlace;
    m.src_memory = src.kind;
    m.src_gpu = src.gpu;
    m.dst_memory = dst.kind;
    m.dst_gpu = dst.gpu;
  }

  // The libucp that a process used for this; without a known operation, its only one.
  TextId library_of(ProcessIndex process, const UcpOp* op) {
    if (process == kNone) return kNoText;
    const ProcessLog& log = log_of(process);
    if (log.ucp_libraries.size() <= 1) return log.ucp_library().path;
    if (op == nullptr || op->process != process) return kNoText;
    const IndexOf<Worker> row = worker_of(log, *op);
    if (row == kNone) return kNoText;
    const auto found = log.ucp_libraries.find(log.workers[row].library);
    return found == log.ucp_libraries.end() ? kNoText : found->second.path;
  }

  // From the operation at each side, nullptr if there is none.
  void set_libraries(Message& m, const UcpOp* src, const UcpOp* dst) {
    m.src_library = library_of(ProcessIndex(m.src_process), src);
    m.dst_library = library_of(ProcessIndex(m.dst_process), dst);
  }

  // The facts about a message from the operation that began it, in either direction.
  Message begun_by(const UcpOp& op) {
    Message m;
    fill_common(m, op, op.tag);
    m.bytes = op.bytes;
    m.mpi = function_of(op.asked_by);
    if (const LibraryCall* call = library_call_of(op)) {
      const LibraryCalls& calls = log_of(op.process).library_calls;
      m.asked_library = calls.library_of(*call);
      m.asked_function = calls.function_of(*call);
      const LibraryCall& begun = calls.beginning_of(*call);
      m.asked_collective = begun.collective;
      m.asked_algorithm = begun.algorithm;
      m.asked_layers = begun.layers;
      m.asked_inferred = op.library_inferred;
    }
    m.stack = stack_of_asker(op);
    m.call = op.asked_by.number();
    m.comm = comm_name(op.process, op.comm);
    m.communicator = communicator_of(op.process, op.comm).number();
    m.progressed_in = function_of(op.call);
    m.t_start_ns = op.start_ns;
    m.t_start_from = op.start_from;
    return m;
  }

  Message message_of_send(const UcpOp& send) {
    Message m = begun_by(send);
    m.src_process = send.process.number();
    m.dst_process = send.peer_process.number();
    std::int32_t status = send.ended ? send.end_status : send.status;
    MemoryPlace dst = memory_without_operation(send.peer_process);
    if (send.partner != kNone) {
      const UcpOp& receive = ucp(send.partner);
      m.dst_process = receive.process.number();
      m.mpi_recv = function_of(receive.asked_by);
      m.recv_stack = stack_of_asker(receive);
      const UcpIndex first = send.first_taker != kNone ? send.first_taker : send.partner;
      take_receive(m, ucp(first), receive);
      dst = received_into(first);
      status = receive.end_status != 0 ? receive.end_status : status;
      if ((send.flags & log::UcpOperation::kUnknownLength) != 0 && !send.is_stream()) {
        m.bytes = receive.received_bytes;
      }
    }
    set_memory(m, own_memory(send), dst);
    set_libraries(m, &send, send.partner != kNone ? &ucp(send.partner) : nullptr);
    finish(m, status);
    return m;
  }

  // The source is where the data was, also for a get. An atomic operation carries its operand; its
  // result is part of the answer.
  Message message_of_one_sided(const UcpOp& op) {
    Message m = begun_by(op);
    const bool fetched = op.is(log::UcpFamily::get);
    m.initiator = fetched ? Side::dst : Side::src;
    (fetched ? m.dst_process : m.src_process) = op.process.number();
    (fetched ? m.src_process : m.dst_process) = op.peer_process.number();
    m.t_end_ns = op.end_ns;
    m.t_end_from = op.end_from;
    const MemoryPlace own = own_memory(op), target = target_memory(op);
    set_memory(m, fetched ? target : own, fetched ? own : target);
    set_libraries(m, fetched ? nullptr : &op, fetched ? &op : nullptr);
    finish(m, op.ended ? op.end_status : op.status);
    return m;
  }

  // The world rank of a sender without a log: MPI's tags contain its rank in the communicator.
  std::int32_t source_in_tag(const UcpOp& receive) {
    const ProcessLog& log = log_of(receive.process);
    const auto tag = decode_tag(log.flavour, receive.sender_tag);
    if (!tag) {
      return -1;
    }
    return addressed_rank(job_, receive.process, receive.comm, tag->source).value_or(-1);
  }

  Message message_of_receive(UcpIndex index) {
    const UcpOp& receive = ucp(index);
    Message m;
    fill_common(m, receive, receive.sender_tag);
    m.dst_process = receive.process.number();
    m.bytes = receive.received_bytes;
    m.mpi_recv = function_of(receive.asked_by);
    m.recv_stack = stack_of_asker(receive);
    m.comm = comm_name(receive.process, receive.comm);
    m.communicator = communicator_of(receive.process, receive.comm).number();
    take_receive(m, receive, receive);
    set_memory(m, {}, received_into(index));
    set_libraries(m, nullptr, &receive);
    finish(m, receive.end_status);
    m.src = m.kind == MessageKind::tag ? source_in_tag(receive) : -1;
    return m;
  }

  // For a stream, the receives of the first and the last byte; otherwise they are the same.
  static void take_receive(Message& m, const UcpOp& first, const UcpOp& last) {
    m.t_posted_recv_ns = first.posted_ns;
    // A matched receive was posted by its probe.
    m.t_posted_recv_from =
        first.posted_tick == first.start_tick ? first.start_from : TimeFrom::clock;
    m.t_end_ns = last.end_ns;
    m.t_end_from = last.end_from;
  }

  void finish(Message& m, std::int32_t status) {
    m.src = rank_of(ProcessIndex(m.src_process));
    m.dst = rank_of(ProcessIndex(m.dst_process));
    m.status = text_of_status(status);
    if (m.src_process != kNone && m.dst_process != kNone) m.t_error_ns = error_of(m);
  }

  std::int64_t error_of(const Message& m) {
    const auto error =
        clock_error_ns(job_, ProcessIndex(m.src_process), std::max(m.t_start_ns, std::int64_t{0}),
                       ProcessIndex(m.dst_process), std::max(m.t_end_ns, m.t_start_ns));
    return error.has_value() ? static_cast<std::int64_t>(std::ceil(*error)) : -1;
  }

  const DataReceives& data_receives_;
};

// Each accepted send and one-sided operation begins a message, and each receive whose send is not
// in the logs; not those of uctrace itself. By time.
std::vector<UcpIndex> heads_of_messages(const Job& job) {
  using Head = std::pair<std::int64_t, UcpIndex>;
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  std::vector<std::vector<Head>> heads(spans.size());
  job.workers.each(spans.size(), [&](std::size_t process) {
    for (const UcpIndex i : Indexes<UcpOp>(spans[process].begin, spans[process].end)) {
      const UcpOp& op = job.ucp[i];
      if (op.tool) continue;
      if ((op.starts_message() && op.accepted()) || (op.received() && op.partner == kNone)) {
        heads[process].emplace_back(op.start_ns, i);
      }
    }
    std::sort(heads[process].begin(), heads[process].end());
  });
  std::vector<UcpIndex> sorted;
  for (const auto& [start_ns, head] : merge_sorted(std::move(heads), job.workers)) {
    sorted.push_back(head);
  }
  return sorted;
}

// Sets the message of each operation.
void number_messages(Job& job, const std::vector<UcpIndex>& heads) {
  constexpr std::size_t kPart = 64 * 1024;
  const auto ucp = [&](UcpIndex index) -> UcpOp& { return job.ucp[index]; };
  job.workers.each_part(heads.size(), kPart, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      UcpOp& op = ucp(heads[i]);
      op.message = MessageIndex(i);
      if (op.partner != kNone && !op.is_stream()) ucp(op.partner).message = op.message;
    }
  });
  job.workers.each_part(job.ucp.size(), kPart, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      UcpOp& op = job.ucp[i];
      if (op.data_of != kNone) {
        op.message = ucp(op.data_of).message;
      } else if (op.is(log::UcpFamily::stream_receive) && op.partner != kNone) {
        op.message = ucp(op.partner).message;
      }
    }
  });
}

DataReceives data_receives_of(const Job& job) {
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  std::vector<std::vector<UcpIndex>> found(spans.size());
  job.workers.each(spans.size(), [&](std::size_t process) {
    for (const UcpIndex i : Indexes<UcpOp>(spans[process].begin, spans[process].end)) {
      if (job.ucp[i].data_of != kNone) found[process].push_back(i);
    }
  });
  DataReceives receives;
  for (const auto& of_process : found) {
    for (const UcpIndex i : of_process) receives[job.ucp[i].data_of] = i;
  }
  return receives;
}

}  // namespace

std::vector<UcpIndex> make_messages(Job& job) {
  constexpr std::size_t kPart = 4096;
  std::vector<UcpIndex> heads = heads_of_messages(job);
  number_messages(job, heads);
  const DataReceives data_receives = data_receives_of(job);
  std::vector<Message>& messages = job.run.messages;
  make_room(job, messages, heads.size());
  std::deque<NewTexts> texts((heads.size() + kPart - 1) / kPart, NewTexts(job.run.texts));
  job.workers.each_part(heads.size(), kPart, [&](std::size_t begin, std::size_t end) {
    MessageMaker maker(job, texts[begin / kPart], data_receives);
    for (std::size_t i = begin; i < end; ++i) {
      messages[i] = maker.make(heads[i]);
      if (!job.ucp[heads[i]].starts_message()) heads[i] = kNone;
    }
  });
  for (NewTexts& of_part : texts) of_part.intern_in(job.run.texts);
  job.workers.each_part(heads.size(), kPart, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) texts[begin / kPart].settle(messages[i].status);
  });
  return heads;
}

}  // namespace uctrace::merge
