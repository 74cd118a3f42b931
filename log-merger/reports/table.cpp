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

void write_line(std::ostream& out, const Table& table, const std::vector<std::string>& fields,
                const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) line += "  ";
    line += align(fields[i], widths[i], table.columns[i].unit);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
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

void write_text(std::ostream& out, const Table& table, Colour colour) {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : table.rows) {
    auto& fields = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      fields.push_back(format_cell(row[i], table.columns[i].unit));
      widths[i] = std::max(widths[i], display_width(fields[i]));
    }
  }
  out << heading(table.title, colour) << '\n';
  write_line(out, table, titles, widths);
  for (const auto& fields : lines) write_line(out, table, fields, widths);
  if (table.rows.empty()) out << "(none)\n";
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
