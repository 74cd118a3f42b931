// The output of `uctrace info` for a run: facts, processes, layers, accounting identities, links
// and missing data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace {

inline constexpr int kInfoSchema = 1;

// "# note: ..." with that sentence, as a line.
void write_recording_note(std::ostream& out, const Run& run);

// One JSON object: schema, identities, and the members of Run::info_json.
nlohmann::ordered_json info_json(const Run& run);

// The lists of `info`.
enum class InfoList : std::uint8_t {
  processes,
  layers,
  identities,
  links,
  faults,
  notes,
  settings,
  all
};

struct InfoOptions {
  InfoList list = InfoList::all;
  Format format = Format::table;
  std::optional<std::size_t> limit = {};  // rows of each list
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
  std::string folder = {};  // as of a report
};

// Includes findings if all lists are printed. Throws Error for CSV of all lists: a CSV file holds
// one.
void write_info(std::ostream& out, const RowSource& source, const InfoOptions& options);

void write_info_text(std::ostream& out, const RowSource& source, const InfoOptions& options);

}  // namespace uctrace
