// A table of results and the ways to print it: aligned text for a person, CSV, JSON and NDJSON for
// a program. Text carries a unit on every number; the other formats carry plain numbers whose unit
// ends the column's key (`_bytes`, `_ns`, `_percent`) unless it is a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "log-merger/model/json_text.hpp"
#include "log-merger/model/quantities.hpp"

namespace uctrace {

enum class Format : std::uint8_t { table, csv, json, ndjson };

enum class Unit : std::uint8_t { text, count, bytes, nanoseconds, percent };

struct Column {
  std::string key;    // name in CSV and JSON; stable
  std::string title;  // heading in text
  Unit unit = Unit::text;
  bool spare = false;  // removed first if the text is too narrow
};

// monostate = not known: "-" in text, empty in CSV, null in JSON.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, double>;

struct Table {
  std::string key;    // name among several tables
  std::string title;  // one line for a person
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::size_t hidden_rows = 0;  // left out by keep_first

  void keep_first(std::size_t count);
};

// Colour is the caller's decision: it knows the stream.
enum class Colour : std::uint8_t { off, on };

std::string heading(std::string_view text, Colour colour);

std::string format_cell(const Cell& cell, Unit unit);

// Text may be as wide as it comes.
inline constexpr std::size_t kAnyWidth = SIZE_MAX;

// One field of CSV, quoted as in RFC 4180. A text that a spreadsheet would take for a formula gets
// a leading apostrophe: names come from the recorded program.
std::string csv_field(std::string_view text);

// No wider than `width`: long texts are truncated, then columns removed, and a line says so.
void write_text(std::ostream& out, const Table& table, Colour colour,
                std::size_t width = kAnyWidth);
void write_csv(std::ostream& out, const Table& table);
// One object a line. With `with_table_key` each object names its table, for streams of several
// tables.
void write_ndjson(std::ostream& out, const Table& table, bool with_table_key);
// An array with one object a row, keys in column order.
nlohmann::ordered_json to_json(const Table& table);

}  // namespace uctrace
