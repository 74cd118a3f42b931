// Vectors of rows that several threads fill.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// Faults in unused memory on all threads: a single thread that touches it page by page would mostly
// wait. Does nothing if the system cannot.
void prepare_memory(std::span<std::byte> memory, const Workers& workers);

// Returns complete pages to the system, whose content is no longer needed; the memory stays mapped.
void give_back_memory(std::span<std::byte> memory);

// Like rows.resize(count), for a vector with fewer. `may_prepare`: the new rows may all be in
// memory at the same time.
template <typename Row>
void make_room_for(std::vector<Row>& rows, std::size_t count, const Workers& workers,
                   bool may_prepare) {
  rows.reserve(count);
  if (may_prepare) {
    auto* const begin = reinterpret_cast<std::byte*>(rows.data() + rows.size());
    prepare_memory({begin, (count - rows.size()) * sizeof(Row)}, workers);
  }
  rows.resize(count);
}

}  // namespace uctrace
