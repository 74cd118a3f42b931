// Builds jobs in their state between loading and linking, without logs. Times are ticks and
// nanoseconds at once; every process has one worker, whose uid is kFirstUid + process, and one
// interface.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "event-log/format/ucp_wire.hpp"
#include "log-merger/job/job.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge {

// For what a failed check says.
template <typename Of>
doctest::String toString(IndexOf<Of> index) {
  return doctest::toString(index.number());
}

// A process of a test's job, by the number that it has there.
struct Rank : ProcessIndex {
  Rank(int number) : ProcessIndex(number) {}
  Rank(ProcessIndex index) : ProcessIndex(index) {}

  Rank other() const { return 1 - number(); }  // of two
};

}  // namespace uctrace::merge

namespace uctrace::merge::test {

constexpr std::uint64_t kAllTagBits = ~std::uint64_t{0};

class JobBuilder {
 public:
  static constexpr std::uint64_t kFirstUid = 100;
  static constexpr std::uint64_t kWorker = 0x77;

  // `change` gets the number of a process and the first page of its log.
  using ChangePage = std::function<void(int, log::ProcessPage&)>;
  explicit JobBuilder(int processes, const ChangePage& change = {}) {
    for (int i = 0; i < processes; ++i) add_process(change);
  }

  static std::uint64_t uid(Rank process) { return kFirstUid + process.place(); }
  // The handle of a process's endpoint to another, on both layers.
  static std::uint64_t endpoint_to(Rank peer) { return 0x1000 + peer.place(); }

  UcpOp& ucp(UcpIndex index) { return job.ucp[index]; }
  UctOp& uct(UctIndex index) { return job.uct[index]; }
  ProcessLog& log(Rank process) { return job.logs[process]; }

  UcpIndex send(Rank from, Rank to, std::uint64_t tag, std::uint64_t bytes, std::uint64_t tick) {
    UcpOp op = ucp_operation(from, log::UcpFunction::tag_send_nbx, tick);
    op.handle = endpoint_to(to);
    op.tag = tag;
    op.bytes = bytes;
    op.ended = true;
    op.peer_uid = uid(to);
    op.peer_process = to;
    return add(op);
  }

  // A one-sided operation on [remote, remote + bytes) of `to`.
  UcpIndex one_sided(log::UcpFunction function, Rank from, Rank to, std::uint64_t remote,
                     std::uint64_t bytes, std::uint64_t tick) {
    const UcpIndex index = flush(function, from, tick, tick);
    UcpOp& op = ucp(index);
    op.handle = endpoint_to(to);
    op.remote = remote;
    op.bytes = bytes;
    op.peer_uid = uid(to);
    op.peer_process = to;
    return index;
  }

  UcpIndex active_send(Rank from, Rank to, std::uint64_t handler, std::uint64_t header_bytes,
                       std::uint64_t bytes, std::uint64_t tick) {
    const UcpIndex index = one_sided(log::UcpFunction::am_send_nbx, from, to, 0, bytes, tick);
    ucp(index).tag = handler;
    ucp(index).header_bytes = header_bytes;
    return index;
  }

  // A call of a handler with a message of `bytes`, its header included.
  UcpIndex handler_call(Rank at, std::uint64_t handler, std::uint64_t header_bytes,
                        std::uint64_t bytes, std::uint64_t tick) {
    const UcpIndex index = flush(log::UcpFunction::am_handler, at, tick, tick);
    UcpOp& op = ucp(index);
    op.handle = kWorker;
    op.worker_uid = uid(at);
    op.tag = op.sender_tag = handler;
    op.header_bytes = header_bytes;
    op.bytes = op.received_bytes = bytes;
    op.posted_tick = tick;
    return index;
  }

  // A UCP operation that lasted from `tick` to `end`.
  UcpIndex flush(log::UcpFunction function, Rank process, std::uint64_t tick, std::uint64_t end) {
    UcpOp op = ucp_operation(process, function, tick);
    op.ended = true;
    op.end_ns = static_cast<std::int64_t>(end);
    return add(op);
  }

  // A receive that took a message with `sender_tag`.
  UcpIndex receive(Rank at, std::uint64_t sender_tag, std::uint64_t bytes, std::uint64_t tick) {
    const UcpIndex index = open_receive(at, sender_tag, kAllTagBits, tick);
    UcpOp& op = ucp(index);
    op.ended = op.completed = true;
    op.end_status = 0;
    op.sender_tag = sender_tag;
    op.received_bytes = bytes;
    return index;
  }

  // A receive of which no log says how it ended.
  UcpIndex open_receive(Rank at, std::uint64_t tag, std::uint64_t mask, std::uint64_t tick) {
    UcpOp op = ucp_operation(at, log::UcpFunction::tag_recv_nbx, tick);
    op.handle = kWorker;
    op.tag = tag;
    op.tag_mask = mask;
    op.posted_tick = tick;
    op.status = op.end_status = 1;
    op.worker_uid = uid(at);
    return add(op);
  }

  // As if the records of some operations were dropped: of one process alone, or of all.
  template <typename Random>
  void drop_some(Random& random) {
    constexpr auto kUcp = static_cast<std::size_t>(log::DropKind::ucp);
    const ProcessIndex only(random() % 4);
    for (UcpOp& op : job.ucp) {
      if (random() % 30 != 0 || (only < Rank(3) && op.process != only)) continue;
      (op.is_send() ? op.peer_uid : op.worker_uid) = 0;
      ++log(op.process).totals.dropped[kUcp];
    }
  }

  UcpIndex cancelled_receive(Rank at, std::uint64_t tag, std::uint64_t mask, std::uint64_t tick) {
    const UcpIndex index = open_receive(at, tag, mask, tick);
    ucp(index).ended = ucp(index).completed = true;
    ucp(index).end_status = -16;  // UCS_ERR_CANCELED
    return index;
  }

  void pair(UcpIndex send, UcpIndex receive) {
    ucp(send).partner = receive;
    ucp(receive).partner = send;
    ucp(send).match = ucp(receive).match = Match::exact;
  }

  // An operation of which only the header is known.
  UctIndex active_message(Rank from, Rank to, wire::AmId id, std::uint64_t bytes,
                          std::int64_t at_ns, std::initializer_list<std::uint64_t> header) {
    UctOp op = uct_operation(from, to, log::UctOp::am_bcopy, bytes, at_ns);
    op.am_id = static_cast<std::uint8_t>(id);
    op.header = words(header);
    return add(op);
  }

  UctIndex memory_operation(Rank from, Rank to, log::UctOp kind, std::uint64_t remote,
                            std::uint64_t bytes, std::int64_t at_ns) {
    UctOp op = uct_operation(from, to, kind, bytes, at_ns);
    op.remote = remote;
    return add(op);
  }

  // The arrival of a message with this header; returns its id.
  log::Id arrival(Rank at, wire::AmId id, std::int64_t at_ns,
                  std::initializer_list<std::uint64_t> header) {
    const log::Id number = ++last_id_;
    log(at).arrival_by_id.set(number, job.arrivals.next_index());
    Arrival row;
    row.process = at;
    row.interface = InterfaceIndex(0);
    row.am_id = static_cast<std::uint8_t>(id);
    row.start_ns = at_ns;
    row.header = words(header);
    job.arrivals.push_back(row);
    return number;
  }

  void from_ucp(UctIndex uct_operation, UcpIndex ucp_operation) {
    uct(uct_operation).origin_kind = log::Origin::ucp;
    uct(uct_operation).origin = ucp(ucp_operation).id;
  }
  void from_arrival(UctIndex uct_operation, log::Id arrival) {
    uct(uct_operation).origin_kind = log::Origin::arrival;
    uct(uct_operation).origin = arrival;
  }

  Job job;

 private:
  static HeaderWords words(std::initializer_list<std::uint64_t> header) {
    HeaderWords result;
    for (const std::uint64_t word : header) result.words[result.count++] = word;
    return result;
  }

  void add_process(const ChangePage& change) {
    log::test::LogBuilder builder;
    builder.page.world_rank = static_cast<std::int32_t>(job.logs.size());
    builder.page.pid += static_cast<std::uint32_t>(job.logs.size());
    if (change) change(static_cast<int>(job.logs.size()), builder.page);
    job.logs.emplace_back(builder.read());
    Interface interface;
    interface.id = 1;
    interface.of_ucp = true;
    job.logs.back().interfaces.push_back(interface);
  }

  EndpointIndex endpoint_row(Rank from, Rank to) {
    Rows<Endpoint>& rows = log(from).endpoints;
    for (const EndpointIndex i : rows.indexes()) {
      if (rows[i].peer_process == to) return i;
    }
    Endpoint row;
    row.handle = endpoint_to(to);
    row.interface = InterfaceIndex(0);
    row.peer_process = to;
    return rows.add(row);
  }

  UcpOp ucp_operation(Rank process, log::UcpFunction function, std::uint64_t tick) {
    UcpOp op;
    op.process = process;
    op.function = function;
    op.id = ++last_id_;
    op.start_tick = tick;
    op.start_ns = static_cast<std::int64_t>(tick);
    return op;
  }

  UctOp uct_operation(Rank from, Rank to, log::UctOp kind, std::uint64_t bytes,
                      std::int64_t at_ns) {
    UctOp op;
    op.process = from;
    op.interface = InterfaceIndex(0);
    op.op = kind;
    op.bytes = bytes;
    op.endpoint = endpoint_to(to);
    op.endpoint_row = endpoint_row(from, to);
    op.start_ns = op.end_ns = op.complete_ns = at_ns;
    return op;
  }

  UcpIndex add(const UcpOp& op) {
    const UcpIndex index = job.ucp.add(op);
    log(op.process).ucp_by_id.set(op.id, index);
    return index;
  }
  UctIndex add(const UctOp& op) { return job.uct.add(op); }

  log::Id last_id_ = 0;
};

}  // namespace uctrace::merge::test
