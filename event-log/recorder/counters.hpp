// Counting who sends how much to whom, with or without events (`record --counters`; the layout is
// event-log/format/counter_file.hpp). The shims call count() when something has happened.
//
// Each lane adds to its own rows, in a table that the helper made: a multiplication to find the
// row, a compare and two additions, about 3 ns. A new key takes a free row. When a table gets full,
// the lane goes on in a larger one. The old rows stay, and a key that comes again gets another row
// in the new table. So no row ever moves, and nothing waits. Counts that find no room go into the
// page of the file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"
#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

namespace detail {
// 0: all is recorded and nothing is counted here. kCounts; kCountsOnly if no events are recorded;
// kNoMemory besides that while there is no GPU driver. kLeavesOut alone, while recording is off.
UCTRACE_OWN extern constinit std::uint8_t counting;
inline constexpr std::uint8_t kCounts = 1, kCountsOnly = 2, kNoMemory = 4, kLeavesOut = 8;

// Which UCP tags belong to messages that the program sent through MPI: (tag & mask) == value. While
// no MPI is known the mask is 0: then all do.
struct TagRule {
  std::uint64_t mask, value;
};
UCTRACE_OWN extern constinit TagRule tag_rule;

inline std::uint8_t counting_now() {
#if defined(__SANITIZE_THREAD__)
  return __atomic_load_n(&counting, __ATOMIC_RELAXED);
#else
  return counting;
#endif
}

// The row of the key, a new one if necessary; nullptr: there is no room.
CounterRow* find_row(Lane& lane, CounterKey key);
void count_unplaced(CounterKey key, std::uint64_t messages, std::uint64_t bytes);
}  // namespace detail

// The first two are final before anything is counted.
inline bool counts() { return (detail::counting_now() & detail::kCounts) != 0; }
inline bool counts_only() {
  return __builtin_expect((detail::counting_now() & detail::kCountsOnly) != 0, 0);
}

// The location of data is not looked up either: a message that MPI has counted is not examined
// again in UCP.
inline bool counts_no_memory() {
  return __builtin_expect((detail::counting_now() & detail::kNoMemory) != 0, 0);
}

// Whether the process leaves events out now, and counts nothing here: then most operations take a
// shorter way, on a lane that follows this already (Lane::stays_off()).
inline bool leaves_out() {
  return __builtin_expect((detail::counting_now() & detail::kLeavesOut) != 0, 0);
}
// Neither of these, so that one test decides for what is simply recorded.
inline bool only_records() { return __builtin_expect(detail::counting_now() == 0, 1); }

// Adds to the row of the key: `messages` of together `bytes`.
UCTRACE_HOT inline void count_in(Lane& lane, CounterKey key, std::uint64_t bytes,
                                 std::uint64_t messages = 1) {
  const CountedRows& rows = lane.counted;
  CounterRow* row = rows.rows + counter_home(key, rows.capacity);
  if (row->key != key) [[unlikely]] {
    row = detail::find_row(lane, key);
    if (row == nullptr) [[unlikely]] {
      detail::count_unplaced(key, messages, bytes);
      return;
    }
  }
  reinterpret_cast<Counter&>(row->messages) += messages;
  reinterpret_cast<Counter&>(row->bytes) += bytes;
}

// The same for one event, on a thread that may have no lane.
UCTRACE_HOT inline void count_once(Lane* lane, CounterKey key, std::uint64_t bytes) {
  if (lane != nullptr) [[likely]] {
    count_in(*lane, key, bytes);
  } else {
    detail::count_unplaced(key, 1, bytes);
  }
}

UCTRACE_HOT inline void count(CounterKind kind, std::uint64_t subject, std::uint64_t bytes) {
  count_once(lane(), counter_key(kind, size_bin(bytes), subject), bytes);
}

// Two counts of the same bytes.
UCTRACE_HOT inline void count_both(CounterKind kind, std::uint64_t subject, CounterKind other_kind,
                                   std::uint64_t other_subject, std::uint64_t bytes) {
  const unsigned bin = size_bin(bytes);
  Lane* const mine = lane();
  count_once(mine, counter_key(kind, bin, subject), bytes);
  count_once(mine, counter_key(other_kind, bin, other_subject), bytes);
}

// True of a message that a call of the program sent, or that no MPI is known to have sent.
inline bool is_programs_message(std::uint64_t ucp_tag) {
  return (ucp_tag & detail::tag_rule.mask) == detail::tag_rule.value;
}
// Not 0: this thread is in a point-to-point call in which the program sends. A UCP send with a tag
// of the program is then that message; outside of such calls it is MPI's own. 1 at first, then the
// endpoint that MPI passed to UCP. The MPI wrappers, which are in C, use its other name.
extern thread_local constinit std::uintptr_t programs_send __asm__("uctrace_programs_send")
    __attribute__((tls_model("initial-exec")));
// The receiver of `programs_send`, as a subject of the counters: used if MPI tells no rank of the
// peer.
std::uint64_t peer_of_programs_send(std::uintptr_t sent);
// By the layer of UCP, which knows its endpoints.
void set_peer_of_endpoint(std::uint64_t (*peer_of)(const void* endpoint));
inline bool has_tag_rule() { return detail::tag_rule.mask != 0; }

// Once MPI is known.
void set_tag_rule(std::uint64_t mask, std::uint64_t value);

// --- slow paths ----------------------------------------------------------------------------------

// Before the first lane: UCTRACE_COUNTERS, which is "only" or "too".
void read_counting();

// Recording was switched: whether it is off.
void set_leaves_out(bool off);

// From now on there is a GPU driver.
void count_memory();

// Asks the helper for room for this many rows, which this thread will soon need.
void expect_rows(std::size_t rows);

// Names a number that subjects use; at most kMaxNameWords words. Names without room are counted.
// Lock-free, without a system call.
void name_counter(CounterNameKind kind, std::uint32_t number, std::uint64_t value,
                  const void* words, std::size_t count);
void name_counter(CounterNameKind kind, std::uint32_t number, const char* text);

}  // namespace uctrace::log
