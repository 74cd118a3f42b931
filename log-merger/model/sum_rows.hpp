// Sums over the growing tables: the values that occur, and sums of similar rows. A report then need
// not read every row: there is one row for all that agree in everything that a filter without a
// time span can select and that reports distinguish.
#pragma once

#include <compare>
#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// A value in the growing tables that a filter can select: `mpi` and the parties at the ends occur
// in messages, `called` in MPI calls, `comm` in both, `protocol` in messages, `transport` and `op`
// in hops and transfers.
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

// Messages that also have the same hops, apart from the amounts.
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
  std::int32_t caller = -1;               // process whose MPI call requested it, -1 = none
  std::int32_t call_site = -1;            // of the requesting call; into call_sites
  std::uint64_t messages = 0, bytes = 0;  // bytes: payload of all of them
  std::uint32_t first_hop = 0, hops = 0;  // range in Run::hop_sums
};

// Similar hops of the messages of a MessageSum.
struct HopSum {
  Side issued_by = Side::src;
  Role role = Role::data;
  bool network = false;
  MemoryKind from_memory = MemoryKind::unknown, to_memory = MemoryKind::unknown;
  std::int32_t from_gpu = -1, to_gpu = -1;
  TextId transport = kNoText, device = kNoText, remote_device = kNoText, op = kNoText;
  std::uint64_t count = 0, payload_bytes = 0, wire_bytes = 0;
};

// MPI calls, and the part of their time for one communicator: a call is counted where most of its
// time went.
struct CallSum {
  std::uint32_t process = 0;
  TextId function = kNoText;
  TextId comm = kNoText;
  std::int32_t communicator = -1;           // of the calls
  std::int32_t part_communicator = -1;      // that the time went to
  std::int32_t call_site = -1;              // into call_sites
  bool has_stack = false;                   // their call site is known
  std::uint8_t size = 0;                    // size_class() of the greater byte count of each
  std::uint64_t calls = 0;                  // counted here
  std::uint64_t timed = 0;                  // of these, with known start and end
  std::uint64_t bytes = 0, recv_bytes = 0;  // of the calls counted here
  std::uint64_t ns = 0;                     // whole time of these
  std::uint64_t part_ns = 0;                // time that went to part_communicator
  std::uint64_t part_waiting_ns = 0;        // of it, for other processes
  std::uint64_t part_unknown_ns = 0;        // of it, perhaps waiting
};

// UCP operations called outside MPI with a known call site.
struct OperationSum {
  std::uint32_t process = 0;
  TextId function = kNoText;
  std::int32_t call_site = -1;    // into call_sites
  std::int32_t message_sum = -1;  // the sum of their messages, -1 = none
  std::uint64_t calls = 0;
  std::uint64_t timed = 0;  // of these, with known start and end
  std::uint64_t bytes = 0, ns = 0;
};

// How far apart the two ends of messages are.
enum class Reach : std::uint8_t { unknown, process, host, network };
const char* name_of(Reach);

// Messages that agree in these fields, including the latency class (latency.hpp): times by protocol
// and size, for quantiles.
struct LatencySum {
  MessageKind kind = MessageKind::tag;
  Reach reach = Reach::unknown;
  std::uint8_t size = 0;           // size_class() of the payload of each
  bool first = false;              // the first one from its source to its destination
  bool timed = false;              // otherwise latency_class and ns are meaningless
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
