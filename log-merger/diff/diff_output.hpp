// What `uctrace diff` prints.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "log-merger/diff/diff.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace::diff {

struct DiffOptions {
  Format format = Format::table;
  std::optional<std::size_t> limit = {};  // changes
  bool all = false;                       // also other differences, in text
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;
};

// `name_a`, `name_b`: the folders, as the user named them.
struct ComparedRuns {
  const RunMeasures& a;
  const RunMeasures& b;
  std::string name_a, name_b;
};

// What `--format json` prints; at most `limit` rows each of `changes` and `others`, with the number
// left out.
nlohmann::ordered_json diff_json(const ComparedRuns& runs, const Diff& diff,
                                 std::optional<std::size_t> limit);

void write_diff(std::ostream& out, const ComparedRuns& runs, const Diff& diff,
                const DiffOptions& options);

}  // namespace uctrace::diff
