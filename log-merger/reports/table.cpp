#include "log-merger/reports/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json cell_to_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

ordered_json row_to_json(const Table& table, const std::vector<Cell>& row, bool with_table_key) {
  ordered_json object = ordered_json::object();
  if (with_table_key) object["table"] = table.key;
  for (std::size_t i = 0; i < row.size(); ++i) {
    object[table.columns[i].key] = cell_to_json(row[i]);
  }
  return object;
}

std::string csv_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_field(*text);
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return "";
}

// Characters, not bytes: continuation bytes of UTF-8 take no column.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string align(const std::string& text, std::size_t width, Unit unit) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return unit == Unit::text ? text + space : space + text;
}

// A table as shown: with a first line for the titles.
struct Shown {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::size_t> widths;  // by column
  std::vector<bool> left_out;       // by column
};

constexpr std::size_t kGap = 2;           // between columns
// Widths for truncated texts: still readable, and the minimum.
constexpr std::size_t kEasyCut = 28, kShortestCut = 16;

Shown shown(const Table& table) {
  Shown text;
  auto& titles = text.lines.emplace_back();
  for (const Column& column : table.columns) titles.push_back(column.title);
  for (const auto& row : table.rows) {
    auto& fields = text.lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      fields.push_back(format_cell(row[i], table.columns[i].unit));
    }
  }
  text.widths.resize(table.columns.size());
  text.left_out.resize(table.columns.size());
  for (const auto& fields : text.lines) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text.widths[i] = std::max(text.widths[i], display_width(fields[i]));
    }
  }
  return text;
}

std::size_t width_of(const Shown& text) {
  std::size_t width = 0, columns = 0;
  for (std::size_t i = 0; i < text.widths.size(); ++i) {
    if (text.left_out[i]) continue;
    width += text.widths[i];
    ++columns;
  }
  return width + kGap * (columns == 0 ? 0 : columns - 1);
}

// Columns of text may become as narrow as `cut`, or their titles.
std::size_t least_width(const Table& table, const Shown& text, std::size_t column,
                        std::size_t cut) {
  if (table.columns[column].unit != Unit::text) return text.widths[column];
  return std::min(text.widths[column], std::max(cut, display_width(table.columns[column].title)));
}

bool fits_if_cut(const Table& table, const Shown& text, std::size_t width, std::size_t cut) {
  std::size_t saved = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!text.left_out[i]) saved += text.widths[i] - least_width(table, text, i, cut);
  }
  return width_of(text) - saved <= width;
}

// Removes the last column except the first, among the spare ones or all; false: there is none.
bool leave_one_out(const Table& table, Shown& text, bool spare) {
  for (std::size_t i = table.columns.size() - 1; i > 0; --i) {
    if (text.left_out[i] || (spare && !table.columns[i].spare)) continue;
    text.left_out[i] = true;
    return true;
  }
  return false;
}

// First truncates texts a little; if that is not enough, removes spare columns, then truncates
// further, then removes other columns.
void fit(const Table& table, Shown& text, std::size_t width) {
  while (!fits_if_cut(table, text, width, kEasyCut) && leave_one_out(table, text, true)) {
  }
  while (!fits_if_cut(table, text, width, kShortestCut) && leave_one_out(table, text, false)) {
  }
  const std::size_t cut =
      fits_if_cut(table, text, width, kEasyCut) ? kEasyCut : kShortestCut;
  while (width_of(text) > width) {
    std::size_t longest = table.columns.size();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (text.left_out[i] || text.widths[i] <= least_width(table, text, i, cut)) continue;
      if (longest == table.columns.size() || text.widths[i] > text.widths[longest]) longest = i;
    }
    if (longest == table.columns.size()) return;
    --text.widths[longest];
  }
}

// Cuts the middle: both ends help to distinguish names. `text` is wider than `width`.
std::string cut(const std::string& text, std::size_t width) {
  constexpr std::size_t kDots = 2;
  const std::size_t front = (width - kDots) / 2, back = width - kDots - front;
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  std::size_t first = 0;  // where the character behind `front` begins
  for (std::size_t seen = 0; first < text.size(); ++first) {
    if (begins(text[first]) && seen++ == front) break;
  }
  std::size_t last = text.size();
  for (std::size_t seen = 0; last > first && seen < back;) {
    if (begins(text[--last])) ++seen;
  }
  return text.substr(0, first) + ".." + text.substr(last);
}

void write_line(std::ostream& out, const Table& table, const std::vector<std::string>& fields,
                const Shown& text) {
  std::string line;
  bool first = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (text.left_out[i]) continue;
    if (!first) line += std::string(kGap, ' ');
    first = false;
    const bool fits = display_width(fields[i]) <= text.widths[i];
    line += align(fits ? fields[i] : cut(fields[i], text.widths[i]), text.widths[i],
                  table.columns[i].unit);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

// Names the removed columns for readers who miss them.
std::string left_out_line(const Table& table, const Shown& text) {
  std::string names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!text.left_out[i]) continue;
    names += (names.empty() ? "" : ", ") + table.columns[i].title;
  }
  return names.empty() ? "" : fmt::format("(--wide also shows: {})\n", names);
}

}  // namespace

void Table::keep_first(std::size_t count) {
  if (rows.size() <= count) return;
  hidden_rows += rows.size() - count;
  rows.resize(count);
}

std::string heading(std::string_view text, Colour colour) {
  return colour == Colour::on ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string format_cell(const Cell& cell, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) {
    return unit == Unit::percent ? fmt::format("{:.1f} %", *number) : fmt::format("{}", *number);
  }
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    if (unit == Unit::bytes) return format_bytes(*number);
    if (unit == Unit::nanoseconds) return format_duration(*number);
    return std::to_string(*number);
  }
  return "-";
}

std::string csv_field(std::string_view text) {
  const bool formula = !text.empty() && std::string_view("=+-@").find(text[0]) != text.npos;
  if (formula) return csv_field("'" + std::string(text));
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_text(std::ostream& out, const Table& table, Colour colour, std::size_t width) {
  Shown text = shown(table);
  fit(table, text, width);
  out << heading(table.title, colour) << '\n';
  for (const auto& fields : text.lines) write_line(out, table, fields, text);
  if (table.rows.empty()) out << "(none)\n";
  out << left_out_line(table, text);
  if (table.hidden_rows != 0) out << fmt::format("({} more rows)\n", table.hidden_rows);
}

void write_csv(std::ostream& out, const Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    out << (i == 0 ? "" : ",") << csv_field(table.columns[i].key);
  }
  out << '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out << (i == 0 ? "" : ",") << csv_cell(row[i]);
    out << '\n';
  }
}

void write_ndjson(std::ostream& out, const Table& table, bool with_table_key) {
  for (const auto& row : table.rows) out << dump(row_to_json(table, row, with_table_key)) << '\n';
}

ordered_json to_json(const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows) rows.push_back(row_to_json(table, row, false));
  return rows;
}

}  // namespace uctrace
