// What calls of libraries above UCX took and moved, by library and function, and of UCC by
// collective operation, layers and algorithm (docs/libraries.md).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {

struct LibrarySum {
  TextId library = kNoText, function = kNoText;
  TextId collective = kNoText, layers = kNoText, algorithm = kNoText;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;                            // that their arguments ask for
  std::uint64_t calls_without_bytes = 0;              // whose arguments do not tell
  std::uint64_t operations = 0, operation_bytes = 0;  // as of the calls
  std::uint64_t inferred_operations = 0, inferred_bytes = 0;
  std::int64_t ns = 0, max_ns = 0;
};

// Each call, in the words of those of MPI.
void for_each_library_call(const RowSource& source, const std::function<void(const Calls&)>& visit);

// Of all processes; the longest time first.
std::vector<LibrarySum> library_sums(const RowSource& source);

}  // namespace uctrace
