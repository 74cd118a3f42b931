// Shared by the helper, which extends the counter file, and the threads that count. Private to
// counters.cpp and counter_store.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"
#include "event-log/recorder/pool.hpp"

namespace uctrace::log {

// A section of 8 KiB, and larger ones: 64 KiB, then kTableGrowth times as large each, to 256 MiB.
inline constexpr std::size_t kSmallTableBytes = 8 * 1024;
inline constexpr std::uint32_t kSmallTableRows =
    (kSmallTableBytes - sizeof(CounterSection)) / sizeof(CounterRow);
inline constexpr std::uint32_t kTableGrowth = 4;
inline constexpr std::size_t kReadyTables = 24;

// A section of names, as far as it is used.
struct NameRoom {
  std::uint64_t* at;
  std::uint64_t words;
  std::atomic<std::uint64_t> used;  // may run past the end
};

struct CounterParts {
  std::atomic<CounterPage*> page;  // nullptr: there is no file
  std::atomic<CounterRow*> ready[kReadyTables];
  std::atomic<NameRoom*> names, next_names;
  std::atomic<bool> rows_wanted, names_wanted;
  std::atomic<bool> grows;  // the helper makes more
  Shortage tables;          // of first ones
};
extern constinit CounterParts counter_parts;

}  // namespace uctrace::log
