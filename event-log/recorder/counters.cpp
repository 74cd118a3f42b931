// Rows of new keys, tables that replace full ones, and names.
#include "event-log/recorder/counters.hpp"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "event-log/recorder/counter_parts.hpp"
#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/recorder_parts.hpp"

namespace uctrace::log {

namespace detail {

constinit std::uint8_t counting = 0;
constinit TagRule tag_rule{};

}  // namespace detail

constinit CounterParts counter_parts{};
thread_local constinit std::uintptr_t programs_send = 0;

namespace {
constinit std::atomic<std::uint64_t (*)(const void*)> peer_of_endpoint{nullptr};
}  // namespace

void set_peer_of_endpoint(std::uint64_t (*peer_of)(const void* endpoint)) {
  peer_of_endpoint.store(peer_of, std::memory_order_release);
}

std::uint64_t peer_of_programs_send(std::uintptr_t sent) {
  auto* const peer_of = peer_of_endpoint.load(std::memory_order_acquire);
  if (sent <= 1 || peer_of == nullptr) return kUnknownPeer;
  return peer_of(reinterpret_cast<const void*>(sent));
}

void set_tag_rule(std::uint64_t mask, std::uint64_t value) { detail::tag_rule = {mask, value}; }

namespace {

constexpr std::size_t kProbes = 24;

// For a lane without a table: no key is 0, so none is found there.
constinit CounterRow no_rows[1]{};

bool has_table(const CountedRows& rows) { return rows.rows != no_rows; }

// In the order that CountedRows requires.
void go_on_in(CountedRows& rows, CounterRow* table, std::uint32_t capacity) {
  rows.used = 0;
  __atomic_store_n(&rows.rows, table, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&rows.capacity, capacity, __ATOMIC_RELAXED);
}

void ask_for(CountedRows& rows, std::size_t capacity) {
  const std::size_t most = UINT32_MAX / 2;
  const auto wanted = static_cast<std::uint32_t>(capacity < most ? capacity : most);
  __atomic_store_n(&rows.wanted, wanted, __ATOMIC_RELEASE);
  counter_parts.rows_wanted.store(true, std::memory_order_release);
}

bool take_ready_table(CountedRows& rows) {
  for (auto& place : counter_parts.ready) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (CounterRow* table = place.exchange(nullptr, std::memory_order_acq_rel)) {
      go_on_in(rows, table, kSmallTableRows);
      return true;
    }
  }
  return false;
}

bool take_next_table(CountedRows& rows) {
  CounterRow* next = __atomic_exchange_n(&rows.next, nullptr, __ATOMIC_ACQ_REL);
  if (next == nullptr) return false;
  go_on_in(rows, next, rows.next_capacity);
  return true;
}

// A key's row, or the first free place near its home; nullptr: neither is there.
CounterRow* look_for(const CountedRows& rows, CounterKey key) {
  std::size_t at = counter_home(key, rows.capacity);
  const std::size_t probes = rows.capacity < kProbes ? rows.capacity : kProbes;
  for (std::size_t i = 0; i < probes; ++i, at = at + 1 < rows.capacity ? at + 1 : 0) {
    const CounterKey there = __atomic_load_n(&rows.rows[at].key, __ATOMIC_RELAXED);
    if (there == key || there == 0) return &rows.rows[at];
  }
  return nullptr;
}

// A signal handler may take the place at the same time.
bool claim(CounterRow& row, CounterKey key) {
  CounterKey nobody = 0;
  return __atomic_compare_exchange_n(&row.key, &nobody, key, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED);
}

}  // namespace

void start_counting_in(Lane& lane) { lane.counted = {no_rows, 1, 0, nullptr, 0, 0}; }

void take_first_rows(Lane& lane) {
  if (!counts() || has_table(lane.counted) ||
      !counter_parts.grows.load(std::memory_order_acquire)) {
    return;
  }
  FirstWait first(counter_parts.tables);
  for (;;) {
    const std::uint32_t seen = pool.made.load(std::memory_order_acquire);
    if (take_ready_table(lane.counted) || !first.wait(seen)) return;
  }
}

CounterRow* detail::find_row(Lane& lane, CounterKey key) {
  CountedRows& rows = lane.counted;
  if (!has_table(rows) && !take_ready_table(rows)) {
    counter_parts.rows_wanted.store(true, std::memory_order_release);
    return nullptr;
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    CounterRow* row = look_for(rows, key);
    if (row != nullptr && row->key == key) return row;
    const bool full = row == nullptr || rows.used >= rows.capacity - rows.capacity / 4;
    if (full && take_next_table(rows)) continue;
    if (rows.used >= rows.capacity / 2 && rows.wanted == 0 && rows.next == nullptr) {
      ask_for(rows, std::size_t{rows.capacity} * kTableGrowth);
    }
    if (row == nullptr) {
      // A smaller table is better than none while the larger one is made.
      if (rows.capacity > kSmallTableRows || !take_ready_table(rows)) return nullptr;
      continue;
    }
    if (claim(*row, key)) {
      ++rows.used;
      return row;
    }
  }
  return nullptr;
}

void detail::count_unplaced(CounterKey key, std::uint64_t messages, std::uint64_t bytes) {
  CounterPage* page = armed_now() ? counter_parts.page.load(std::memory_order_acquire) : nullptr;
  if (page == nullptr) return;
  UnplacedCount& unplaced = page->unplaced[static_cast<std::size_t>(kind_of(key)) % kCounterKinds];
  __atomic_fetch_add(&unplaced.messages, messages, __ATOMIC_RELAXED);
  __atomic_fetch_add(&unplaced.bytes, bytes, __ATOMIC_RELAXED);
}

void read_counting() {
  const char* wanted = getenv("UCTRACE_COUNTERS");
  std::uint8_t mode = 0;
  if (wanted != nullptr && strcmp(wanted, "only") == 0) {
    // A fork child has the drivers of its parent.
    mode = detail::kCounts | detail::kCountsOnly | (wants(kWantMemory) ? 0 : detail::kNoMemory);
  } else if (wanted != nullptr && strcmp(wanted, "too") == 0) {
    mode = detail::kCounts;
  }
  __atomic_store_n(&detail::counting, mode, __ATOMIC_RELAXED);
}

void set_leaves_out(bool off) {
  if (off && !counts()) {
    __atomic_fetch_or(&detail::counting, detail::kLeavesOut, __ATOMIC_SEQ_CST);
  } else {
    __atomic_fetch_and(&detail::counting, static_cast<std::uint8_t>(~detail::kLeavesOut),
                       __ATOMIC_SEQ_CST);
  }
}

void count_memory() {
  __atomic_fetch_and(&detail::counting, static_cast<std::uint8_t>(~detail::kNoMemory),
                     __ATOMIC_RELAXED);
}

void expect_rows(std::size_t rows) {
  Lane* mine = counts() ? lane() : nullptr;
  if (mine == nullptr || rows <= mine->counted.capacity / 2) return;
  ask_for(mine->counted, rows);
  wake_helper();
}

// --- names ---------------------------------------------------------------------------------------

namespace {

// Room in the newest section of names that has enough. The unused rest of a section stays zero,
// which marks its end.
std::uint64_t* take_name_room(std::size_t words) {
  for (;;) {
    NameRoom* room = counter_parts.names.load(std::memory_order_acquire);
    if (room == nullptr) return nullptr;
    const std::uint64_t at = room->used.fetch_add(words, std::memory_order_relaxed);
    if (at + words <= room->words) {
      // Nearly full: the helper has to make the next one.
      if (at + words > room->words / 2) {
        counter_parts.names_wanted.store(true, std::memory_order_release);
      }
      return room->at + at;
    }
    NameRoom* next = counter_parts.next_names.load(std::memory_order_acquire);
    if (next == nullptr || next == room) return nullptr;
    counter_parts.names.compare_exchange_strong(room, next, std::memory_order_acq_rel);
  }
}

}  // namespace

void name_counter(CounterNameKind kind, std::uint32_t number, std::uint64_t value,
                  const void* words, std::size_t count) {
  CounterPage* page =
      counts() && armed_now() ? counter_parts.page.load(std::memory_order_acquire) : nullptr;
  if (page == nullptr) return;
  if (count > kMaxNameWords) count = kMaxNameWords;
  constexpr std::size_t kLead = sizeof(CounterName) / sizeof(std::uint64_t);
  std::uint64_t* room = take_name_room(kLead + count);
  if (room == nullptr) {
    __atomic_fetch_add(&page->lost_names, 1, __ATOMIC_RELAXED);
    return;
  }
  const CounterName name{kind, 0, static_cast<std::uint16_t>(count), number, value};
  std::uint64_t lead[kLead];
  memcpy(lead, &name, sizeof lead);
  room[1] = lead[1];
  if (count != 0) memcpy(room + kLead, words, count * sizeof *room);
  __atomic_store_n(room, lead[0], __ATOMIC_RELEASE);
}

void name_counter(CounterNameKind kind, std::uint32_t number, const char* text) {
  std::uint64_t words[32]{};  // 255 characters are enough for what is named here
  const std::size_t length = strnlen(text, sizeof words - 1);
  memcpy(words, text, length);
  name_counter(kind, number, 0, words, (length + sizeof *words - 1) / sizeof *words);
}

}  // namespace uctrace::log
