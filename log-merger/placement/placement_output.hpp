// The output of `uctrace placement` (docs/placement.md).
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>

#include "log-merger/placement/plan.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

struct PlacementOptions {
  PlacementWish wish;
  std::filesystem::path write = {};  // new folder for the launchers' files; empty: none
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // columns that a table may take
};

// `folder`: the data folder. Text or JSON: there are several lists.
void write_placement(std::ostream& out, const RowSource& source,
                     const std::filesystem::path& folder, const PlacementOptions& options);

}  // namespace uctrace
