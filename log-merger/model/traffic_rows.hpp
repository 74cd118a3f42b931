// The traffic of a run as cells: source x destination x class, where a class is everything that the
// page's filters can select; and the activity over time, in slabs of equal length. Sums are exact.
// The number of rows depends on the number of classes and pairs, not of events.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// A step of a path: hops that are equal apart from the amounts, or transfers that serve no message.
struct PathStep {
  std::uint16_t hop = 0;
  Role role = Role::data;
  Side issued_by = Side::src;
  bool network = false;
  MemoryKind from_memory = MemoryKind::unknown, to_memory = MemoryKind::unknown;
  std::int32_t from_gpu = -1, to_gpu = -1;
  TextId transport = kNoText, device = kNoText, remote_device = kNoText, op = kNoText;
};

// What a class contains: messages; or transfers without a message, for a known reason, without a
// known reason, or because they belong to an operation that is not a message.
enum class TrafficOf : std::uint8_t { message, reason, unattributed, no_message };
const char* name_of(TrafficOf);

// For transfers only `reason` and the path have a meaning.
struct TrafficClass {
  TrafficOf of = TrafficOf::message;
  MessageKind kind = MessageKind::tag;
  Match match = Match::unmatched;
  MemoryKind src_memory = MemoryKind::unknown, dst_memory = MemoryKind::unknown;
  std::uint8_t size = 0;  // size_class() of the payload of each
  std::int32_t src_gpu = -1, dst_gpu = -1;
  TextId mpi = kNoText, comm = kNoText, protocol = kNoText, reason = kNoText;
  std::uint32_t first_step = 0, steps = 0;  // range in Run::class_steps
};

// A step of the path of a class, each listed once, in order.
struct ClassStep {
  std::uint32_t step = 0;  // into path_steps
};

struct TrafficCell {
  std::int32_t src_process = -1, dst_process = -1;
  std::uint32_t traffic_class = 0;            // into traffic_classes
  std::uint64_t messages = 0, bytes = 0;      // bytes: payload
  std::uint64_t timed = 0, ns = 0;            // messages of known duration, and how long they took
  std::uint32_t first_total = 0, totals = 0;  // range in Run::cell_totals: one for each step
};

// The amounts of a step's operations.
struct CellTotal {
  std::uint64_t count = 0, payload_bytes = 0, wire_bytes = 0;

  CellTotal& operator+=(const CellTotal& more) {
    count += more.count;
    payload_bytes += more.payload_bytes;
    wire_bytes += more.wire_bytes;
    return *this;
  }
};

struct CallGroup {
  TextId function = kNoText, comm = kNoText;
  auto operator<=>(const CallGroup&) const = default;
};

// Slab i is [from + i * slab_ns, from + (i + 1) * slab_ns); in a run, from = 0. The following
// tables have rows only for slabs with activity.

// Messages of a cell that belong to the slab.
struct CellSlab {
  std::uint32_t slab = 0, cell = 0;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t timed = 0, ns = 0;  // including the time after the slab
};

// Totals of their complete paths, and of transfers without a message.
struct TotalSlab {
  std::uint32_t slab = 0, total = 0;
  std::uint64_t count = 0, payload_bytes = 0, wire_bytes = 0;
};

enum class ActivityLayer : std::uint8_t { mpi, ucp, uct };
const char* name_of(ActivityLayer);

// In each of `length` slabs, operations of a process were in progress for busy_ns in total (more
// than the slab's length if several overlap), and this many began. `kind`: for an MPI call its
// kind, for a UCP operation the cell of its message, for a transfer what counts it; -1 = nothing
// does.
struct SlabActivity {
  ActivityLayer layer = ActivityLayer::mpi;
  std::uint32_t process = 0;
  std::int32_t call_group = -1, cell = -1, total = -1;
  std::uint32_t slab = 0, length = 1;
  std::int64_t busy_ns = 0;
  std::uint64_t starts = 0;
};

// The tables whose single rows the page can show.
enum class RowsOf : std::uint8_t { mpi_calls, ucp_operations, transfers, messages };
const char* name_of(RowsOf);

// A block of adjacent rows, and their earliest start; -1: none has one.
struct RowBlock {
  RowsOf of = RowsOf::mpi_calls;
  std::uint64_t first_row = 0;
  std::uint32_t rows = 0;
  std::int64_t first_start_ns = -1;
};

}  // namespace uctrace
