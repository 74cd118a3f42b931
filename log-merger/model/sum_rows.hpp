// Rows that sum up rows of the tables that grow: which values these have, and those that are alike.
// What reports count is kept summed, so that a report need not read every row: one row for all that
// agree in what a filter without a span of time can ask for, and in what reports tell apart.
#pragma once

#include <compare>
#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// A value that some rows of the tables that grow have where a filter can ask for it: `mpi` and the
// parties at the ends are of messages, `called` of MPI calls, `comm` of both, `protocol` of
// messages, `transport` and `op` of hops and transfers.
enum class FacetOf : std::uint8_t {
  mpi,
  called,
  comm,
  protocol,
  transport,
  op,
  source,
  destination
};
const char* name_of(FacetOf);
struct Facet {
  FacetOf of = FacetOf::mpi;
  TextId text = kNoText;
  std::int32_t rank = -1, process = -1;  // of a source or destination
  auto operator<=>(const Facet&) const = default;
};

// Messages whose hops are alike, too, but for what they carried.
struct MessageSum {
  MessageKind kind = MessageKind::tag;
  MemoryKind src_memory = MemoryKind::unknown, dst_memory = MemoryKind::unknown;
  std::uint8_t size = 0;  // size_class() of the payload of each
  // As of a Message.
  std::int32_t src = -1, dst = -1;
  std::int32_t src_process = -1, dst_process = -1;
  std::int32_t src_gpu = -1, dst_gpu = -1;
  TextId mpi = kNoText, comm = kNoText, protocol = kNoText;
  std::int32_t communicator = -1;
  std::int32_t caller = -1;               // process whose MPI call asked, -1 = none did
  std::int32_t call_site = -1;            // of what asked; into call_sites
  std::uint64_t messages = 0, bytes = 0;  // bytes: payload of all of them
  std::uint32_t first_hop = 0, hops = 0;  // range in Run::hop_sums
};

// Hops of the messages of a MessageSum that are alike.
struct HopSum {
  Side issued_by = Side::src;
  Role role = Role::data;
  bool network = false;
  MemoryKind from_memory = MemoryKind::unknown, to_memory = MemoryKind::unknown;
  std::int32_t from_gpu = -1, to_gpu = -1;
  TextId transport = kNoText, device = kNoText, remote_device = kNoText, op = kNoText;
  std::uint64_t count = 0, payload_bytes = 0, wire_bytes = 0;
};

// MPI calls, and what of their time went to one communicator: a call is counted where the greatest
// part of its time went.
struct CallSum {
  std::uint32_t process = 0;
  TextId function = kNoText;
  TextId comm = kNoText;
  std::int32_t communicator = -1;           // of the calls
  std::int32_t part_communicator = -1;      // that the time went to
  std::int32_t call_site = -1;              // into call_sites
  bool has_stack = false;                   // it is known where they were called
  std::uint8_t size = 0;                    // size_class() of the greater byte count of each
  std::uint64_t calls = 0;                  // counted here
  std::uint64_t timed = 0;                  // of these, with known start and end
  std::uint64_t bytes = 0, recv_bytes = 0;  // of the calls that are counted here
  std::uint64_t ns = 0;                     // whole time of these
  std::uint64_t part_ns = 0;                // time that went to part_communicator
  std::uint64_t part_waiting_ns = 0;        // of it, for other processes
  std::uint64_t part_unknown_ns = 0;        // of it, perhaps waiting
};

// UCP operations that were called outside of MPI and of which the place is known.
struct OperationSum {
  std::uint32_t process = 0;
  TextId function = kNoText;
  std::int32_t call_site = -1;    // into call_sites
  std::int32_t message_sum = -1;  // what counts their messages, -1 = they have none
  std::uint64_t calls = 0;
  std::uint64_t timed = 0;  // of these, with known start and end
  std::uint64_t bytes = 0, ns = 0;
};

// Where the two ends of messages are.
enum class Reach : std::uint8_t { unknown, process, host, network };
const char* name_of(Reach);

// Messages that are alike in this, and of which the latencies are (latency.hpp): times by protocol
// and size, from which quantiles follow.
struct LatencySum {
  MessageKind kind = MessageKind::tag;
  Reach reach = Reach::unknown;
  std::uint8_t size = 0;           // size_class() of the payload of each
  bool first = false;              // the first one from its source to its destination
  bool timed = false;              // else latency_class and ns say nothing
  std::uint16_t latency_class = 0;
  TextId protocol = kNoText;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t ns = 0;  // latencies of all of them
};

// UCP endpoints of which UCX expects the same: a message of n bytes takes latency_ps / 1000 +
// n / per_second_bytes * 1e9 nanoseconds.
struct EstimateRow {
  Reach reach = Reach::unknown;  // where their two ends are
  std::uint64_t latency_ps = 0, per_second_bytes = 0;
  std::uint64_t endpoints = 0;  // how many
};

// Transfers that serve no message.
struct TransferSum {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;
  TextId transport = kNoText, op = kNoText;
  Role role = Role::data;
  std::uint64_t transfers = 0, payload_bytes = 0, wire_bytes = 0;
};

}  // namespace uctrace
