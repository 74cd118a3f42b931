// What this process has counted so far, for readers inside the process: the same as in its counter
// file (event-log/format/counter_file.hpp). Blocks nobody; may be called on any thread at any time.
// Empty without a counter file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"

namespace uctrace::log {

// Copies the rows to `out`, at most `room`, in no order; several may have the same key. Returns how
// many there are; by the next call there may be more.
std::size_t copy_counters(CounterRow* out, std::size_t room);

// Visits the names, older ones first, until a visit returns false. The words of a name follow it.
void visit_counter_names(void* context, bool (*visit)(void* context, const CounterName& name));

// Rank and size as of MPI_Init; before, -1 and 0.
struct CounterWorld {
  std::int32_t rank, size;
};
CounterWorld counter_world();

}  // namespace uctrace::log
