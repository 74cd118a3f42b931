// The output of `uctrace hang`: where each rank of an unfinished job sits, and which ranks wait for
// which.
#pragma once

#include <optional>
#include <ostream>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

inline constexpr int kHangSchema = 1;

struct HangOptions {
  Format format = Format::table;
  std::optional<std::size_t> limit = {};  // rows of each list
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
};

// CSV has only the list of ranks; NDJSON has one row per line, with its list as `table`.
void write_hang(std::ostream& out, const Run& run, const HangOptions& options);

}  // namespace uctrace
