// The data of the web page (docs/page-data.md): every class of traffic with its sums, for the whole
// run and over time, and single operations up to a limit. All sums are exact.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "log-merger/page-data/page_tiles.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

inline constexpr int kPageSchema = 7;

// This many operations take 5 MiB of a page (docs/performance.md).
inline constexpr std::uint64_t kPageEvents = 500'000;

struct PageOptions {
  std::optional<std::uint64_t> from_ns = {}, to_ns = {};  // of the run, [from, to)
  std::uint64_t limit = kPageEvents;                      // operations in detail
  std::string folder = {};  // named by the page's commands, as shell words; empty: they need none
  // With an earlier run: the JSON of `uctrace diff` of the two; null: with none.
  nlohmann::ordered_json comparison = nullptr;
  bool served = false;  // the server of the page also makes it for other spans
  // Writes all operations into tiles; then the page itself lists none of them.
  std::optional<TileOptions> tiles = {};
};

// If the run keeps its traffic over time and all of it is requested, only the rows listed one by
// one are read. Else each row is read once, and these rows once more. Tiles are written before it
// returns.
nlohmann::ordered_json page_data(const RowSource& source, const PageOptions& options = {});

// The page template of a page with tiles. Such a page must load scripts that lie beside it; a page
// that holds all that it shows may not.
std::string with_tiles_allowed(std::string_view page_template);

// Whether the file is a page of uctrace.
bool is_page(const std::filesystem::path& path);

// The page template with `data` in its script elements: "packed" in that with id "uctrace-packed",
// all else in that with id "uctrace-data". Throws Error if the template has no such elements.
std::string insert_page_data(std::string_view page_template, nlohmann::ordered_json data);

}  // namespace uctrace
