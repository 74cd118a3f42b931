// Vectors of rows that several threads fill.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// Asks the system for memory that nobody has used yet, by all threads: one that meets it page by
// page waits most of its time. Where the system cannot do that, nothing is done.
void prepare_memory(std::span<std::byte> memory, const Workers& workers);

// As rows.resize(count) of an empty vector. `may_prepare`: its memory may all be in use at once.
template <typename Row>
void make_room_for(std::vector<Row>& rows, std::size_t count, const Workers& workers,
                   bool may_prepare) {
  rows.reserve(count);
  if (may_prepare) {
    auto* const begin = reinterpret_cast<std::byte*>(rows.data());
    prepare_memory({begin, count * sizeof(Row)}, workers);
  }
  rows.resize(count);
}

}  // namespace uctrace
