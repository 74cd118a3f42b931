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

// The system may have back the memory of whole pages in there, of which nobody asks for the content
// any more; it stays mapped.
void give_back_memory(std::span<std::byte> memory);

// As rows.resize(count) of a vector that has fewer. `may_prepare`: the memory of the rows that it
// gets may all be in use at once.
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
