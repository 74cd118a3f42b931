// Reads the packed tables of a page, as docs/page-data.md describes them.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace {

using PageColumn = std::vector<std::int64_t>;
using PageTables = std::map<std::string, std::map<std::string, PageColumn>>;

inline std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, have = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(kDigits.find(c));
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes += static_cast<char>(bits >> have & 0xff);
  }
  return bytes;
}

// As docs/page-data.md describes it.
inline PageTables unpack(const nlohmann::ordered_json& packed) {
  std::string bytes(packed["bytes"].get<std::size_t>(), '\0');
  const std::string deflated = from_base64(packed["deflated"].get<std::string>());
  uLongf size = bytes.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                     reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()) == Z_OK);
  REQUIRE(size == bytes.size());
  PageTables tables;
  std::size_t next = 0;
  for (const nlohmann::ordered_json& table : packed["tables"]) {
    const auto rows = table["rows"].get<std::size_t>();
    for (const nlohmann::ordered_json& column : table["columns"]) {
      const auto width = column["bytes"].get<std::size_t>();
      std::int64_t before = 0;
      PageColumn& values = tables[table["name"]][column["name"]];
      for (std::size_t row = 0; row < rows; ++row) {
        std::uint64_t coded = 0;
        for (std::size_t plane = 0; plane < width; ++plane) {
          coded |= std::uint64_t{static_cast<unsigned char>(bytes[next + plane * rows + row])}
                   << (8 * plane);
        }
        auto value = static_cast<std::int64_t>(coded);
        if (column["signed"].get<bool>()) {
          value = static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
        }
        if (column["differences"].get<bool>()) value = before += value;
        values.push_back(value);
      }
      next += width * rows;
    }
  }
  REQUIRE(next == bytes.size());
  return tables;
}

// The cells, each with its transfers: one for each step of its class.
inline nlohmann::ordered_json cells_of(const nlohmann::ordered_json& data) {
  const PageTables tables = unpack(data["packed"]);
  const auto& cells = tables.at("cells");
  const auto& transfers = tables.at("cell_transfers");
  nlohmann::ordered_json found = nlohmann::ordered_json::array();
  std::size_t next = 0;
  for (std::size_t row = 0; row < cells.at("class").size(); ++row) {
    nlohmann::ordered_json cell, steps = nlohmann::ordered_json::array();
    for (const auto& [name, column] : cells) cell[name] = column[row];
    const auto of = static_cast<std::size_t>(cells.at("class")[row]);
    for (std::size_t step = 0; step < data["classes"][of]["path"].size(); ++step, ++next) {
      nlohmann::ordered_json transfer;
      for (const auto& [name, column] : transfers) transfer[name] = column.at(next);
      steps.push_back(transfer);
    }
    cell["transfers"] = steps;
    found.push_back(cell);
  }
  REQUIRE(next == transfers.at("count").size());
  return found;
}

}  // namespace uctrace
