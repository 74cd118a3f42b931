// Counting who sends how much to whom, with or without events (`record --counters`; the layout is
// event-log/format/counter_file.hpp). The shims call count() where a thing has happened.
//
// Each lane adds to rows of its own, in a table that the helper made: a multiplication to find the
// row, a compare and two additions, about 3 ns. A key that is new takes a free row. A table that
// gets full is left for a larger one; what it holds stays, and keys that come again get another row
// there. So no row ever moves, and nothing waits. What finds no room is counted in the page of the
// file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"
#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

namespace detail {
// 0: nothing is counted here. kCounts; kCountsOnly where no events are recorded; and kNoMemory with
// that, as long as there is no driver of GPUs.
UCTRACE_OWN extern constinit std::uint8_t counting;
inline constexpr std::uint8_t kCounts = 1, kCountsOnly = 2, kNoMemory = 4;

// Which UCP tags are of messages that the program asked MPI for: (tag & mask) == value. The mask is
// 0 while no MPI is known: then all are.
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

// The row of the key, if need be a new one; nullptr: there is no room.
CounterRow* find_row(Lane& lane, CounterKey key);
void count_unplaced(CounterKey key, std::uint64_t messages, std::uint64_t bytes);
}  // namespace detail

// The first two are set before anything is counted, and for good.
inline bool counts() { return detail::counting_now() != 0; }
inline bool counts_only() {
  return __builtin_expect((detail::counting_now() & detail::kCountsOnly) != 0, 0);
}

// Where data lies is not asked for either: what MPI has counted is not looked at again in UCP.
inline bool counts_no_memory() {
  return __builtin_expect((detail::counting_now() & detail::kNoMemory) != 0, 0);
}

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

// The same once, for a thread that may have no lane.
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
// Not 0: this thread is in a point-to-point call of the program that sends. What UCP is asked for
// with a tag of the program is that message, and elsewhere it is MPI's own. 1 at first, then the
// endpoint that UCP was given for it. The wrappers of MPI, which are in C, know it by its other
// name.
extern thread_local constinit std::uintptr_t programs_send __asm__("uctrace_programs_send")
    __attribute__((tls_model("initial-exec")));
// Whom `programs_send` was for, as a subject of the counters: where MPI tells no rank of a peer.
std::uint64_t peer_of_programs_send(std::uintptr_t sent);
// By the layer of UCP, which knows its endpoints.
void set_peer_of_endpoint(std::uint64_t (*peer_of)(const void* endpoint));
inline bool has_tag_rule() { return detail::tag_rule.mask != 0; }

// Once MPI is known.
void set_tag_rule(std::uint64_t mask, std::uint64_t value);

// --- slow paths ----------------------------------------------------------------------------------

// Before the first lane: UCTRACE_COUNTERS, which is "only" or "too".
void read_counting();

// There is a driver of GPUs from now on.
void count_memory();

// Asks the helper for room for so many rows, which this thread will soon have.
void expect_rows(std::size_t rows);

// What a number in subjects stands for; at most kMaxNameWords words. A name that finds no room is
// counted. Lock-free, without a system call.
void name_counter(CounterNameKind kind, std::uint32_t number, std::uint64_t value,
                  const void* words, std::size_t count);
void name_counter(CounterNameKind kind, std::uint32_t number, const char* text);

}  // namespace uctrace::log
