// What this process has counted so far, for who asks inside of it: as a reader of its counter file
// would find it (event-log/format/counter_file.hpp). Stops nobody; may be called on any thread, at
// any time. Of a process without a counter file nothing is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"

namespace uctrace::log {

// Copies the rows that there are to `out`, `room` of them at most, in no order; several may have
// one key. Returns how many there are, which may be more by the next call.
std::size_t copy_counters(CounterRow* out, std::size_t room);

// Visits the names until one returns false, older ones first. The words of a name lie behind it.
void visit_counter_names(void* context, bool (*visit)(void* context, const CounterName& name));

// As MPI_Init found them; -1 and 0 before.
struct CounterWorld {
  std::int32_t rank, size;
};
CounterWorld counter_world();

}  // namespace uctrace::log
