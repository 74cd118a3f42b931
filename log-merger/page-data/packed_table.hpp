// Tables of whole numbers as text that a page can carry: each column in the fewest bytes that hold
// its values, byte plane after byte plane, all of them deflated and in base64. docs/page-data.md
// has the layout. About a tenth of the same rows as JSON.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace uctrace {

// How a column is stored: as its values, or as the first one and the differences from one to the
// next. Differences are shorter for values that rise slowly.
enum class Coding : std::uint8_t { values, differences };

struct PackedColumn {
  std::string name;
  Coding coding = Coding::values;
  std::vector<std::int64_t> values;
};

struct PackedTable {
  std::string name;
  std::vector<PackedColumn> columns;  // of one length
};

// A row, with a value for each column in their order.
void append(PackedTable& table, std::initializer_list<std::int64_t> row);

// A count as a table holds it; no count exceeds 2^63.
inline std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// {"tables": [{"name", "rows", "columns": [{"name", "bytes", "signed", "differences"}]}],
//  "bytes": of the columns together, "adler32": of these, "deflated": base64}
nlohmann::ordered_json pack(const std::vector<PackedTable>& tables);

}  // namespace uctrace
