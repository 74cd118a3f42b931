// The lists of `info` for programs: rows from the JSON document, so names and values are the same
// in every format.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "event-log/reader/error.hpp"
#include "log-merger/findings/finding.hpp"
#include "log-merger/reports/findings_output.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

struct ListEntry {
  InfoList list;
  const char* key;   // of the document, and of the option
  const char* name;  // key for the row's name if the document has an object or plain values
};

constexpr std::array<ListEntry, 7> kLists = {{{InfoList::processes, "processes", "process"},
                                              {InfoList::layers, "layers", "layer"},
                                              {InfoList::identities, "identities", "identity"},
                                              {InfoList::links, "links", "link"},
                                              {InfoList::faults, "faults", "fault"},
                                              {InfoList::notes, "notes", "note"},
                                              {InfoList::settings, "settings", "setting"}}};

// Converts the document's form to an array of objects: {"uct": {...}} becomes {"layer": "uct",
// ...}.
ordered_json rows_of(const ordered_json& info, const ListEntry& entry) {
  ordered_json rows = ordered_json::array();
  if (!info.contains(entry.key)) return rows;
  const ordered_json& list = info[entry.key];
  if (list.is_object()) {
    for (const auto& [name, members] : list.items()) {
      ordered_json row = {{entry.name, name}};
      if (members.is_object()) row.update(members);
      rows.push_back(std::move(row));
    }
  } else if (list.is_array()) {
    for (const ordered_json& value : list) {
      rows.push_back(value.is_object() ? value : ordered_json{{entry.name, value}});
    }
  }
  return rows;
}

Cell cell_of(const ordered_json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_float()) return value.get<double>();
  return dump(value);
}

Table table_of(const ordered_json& rows, const ListEntry& entry) {
  Table table{.key = entry.key, .title = entry.key, .columns = {}, .rows = {}};
  for (const ordered_json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      const auto has_key = [&key = key](const Column& column) { return column.key == key; };
      if (std::any_of(table.columns.begin(), table.columns.end(), has_key)) continue;
      table.columns.push_back({key, key});
    }
  }
  if (table.columns.empty()) table.columns.push_back({entry.name, entry.name});
  for (const ordered_json& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const Column& column : table.columns) {
      cells.push_back(row.contains(column.key) ? cell_of(row[column.key]) : Cell{});
    }
  }
  return table;
}

void cut(ordered_json& list, std::size_t limit) {
  if (list.is_array() && list.size() > limit) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  }
}

void write_json(std::ostream& out, ordered_json info, const InfoOptions& options) {
  ordered_json chosen = {{"schema", info["schema"]}};
  for (const ListEntry& entry : kLists) {
    if (!info.contains(entry.key)) continue;
    if (options.limit) cut(info[entry.key], *options.limit);
    if (options.list == entry.list) chosen[entry.key] = info[entry.key];
  }
  out << dump(options.list == InfoList::all ? info : chosen, 2) << '\n';
}

}  // namespace

void write_info(std::ostream& out, const RowSource& source, const InfoOptions& options) {
  const bool all = options.list == InfoList::all;
  if (options.format == Format::csv && all) {
    throw Error({.what = "info as CSV",
                 .why = "a CSV file holds one list and info has seven",
                 .to_do = "add --list processes, layers, identities, links, faults, notes or "
                          "settings"});
  }
  if (options.format == Format::table) return write_info_text(out, source, options);
  ordered_json info = info_json(source.run());
  if (all && options.format == Format::json) {
    info["findings"] = findings_json(findings::findings_of(source));
  }
  if (options.format == Format::json) return write_json(out, info, options);
  for (const ListEntry& entry : kLists) {
    if (!all && options.list != entry.list) continue;
    ordered_json rows = rows_of(info, entry);
    if (options.limit) cut(rows, *options.limit);
    if (options.format == Format::csv) {
      write_csv(out, table_of(rows, entry));
      continue;
    }
    for (const ordered_json& row : rows) {
      ordered_json line = ordered_json::object();
      if (all) line["table"] = entry.key;
      line.update(row);
      out << dump(line) << '\n';
    }
  }
}

}  // namespace uctrace
