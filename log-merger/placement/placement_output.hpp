// What `uctrace placement` prints (docs/placement.md).
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

// `folder`: of the data. As text, or JSON: there is more than one list.
void write_placement(std::ostream& out, const RowSource& source,
                     const std::filesystem::path& folder, const PlacementOptions& options);

}  // namespace uctrace
