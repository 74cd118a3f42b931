#include "log-merger/store/store_room.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <system_error>
#include <type_traits>
#include <vector>

#include "log-merger/model/quantities.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace {

namespace {

using store::Column;
using store::for_each_of;
using store::Stored;
using store::Table;

template <typename Row>
std::uint64_t most_bytes(std::span<const Row> rows) {
  std::uint64_t bytes = 0;
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_same_v<Value, std::string>) {
      for (const Row& row : rows) bytes += (row.*column.member).size() + sizeof(std::uint64_t);
    } else {
      bytes += rows.size() * sizeof(Stored<Value>);
    }
  });
  return bytes;
}

// The size of store and profile if rows cannot be compressed at all.
std::uint64_t most_bytes(const Run& run) {
  constexpr std::uint64_t kWithoutRows = 1 << 20;  // groups, datasets and their metadata; tables
  std::uint64_t bytes = kWithoutRows + most_bytes(std::span(&run, 1));
  for (const std::string& text : run.texts.all()) bytes += text.size() + sizeof(std::uint64_t);
  for (const std::string& note : run.notes) bytes += note.size() + sizeof(std::uint64_t);
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    bytes += most_bytes(std::span<const Row>(run.*rows));
  });
  return bytes;
}

// Says how much room may be missing. Empty: there is enough.
std::string room_sentence(const Run& run, const std::filesystem::path& path) {
  std::error_code unknown;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::filesystem::space_info room = std::filesystem::space(folder, unknown);
  const std::uint64_t needed = most_bytes(run);
  if (unknown || room.available >= needed) return {};
  return fmt::format("; {} are free there, and it takes up to {}", format_bytes(room.available),
                     format_bytes(needed));
}

}  // namespace

Error no_store(const std::string& what, std::string why, const Run& run,
               const std::filesystem::path& path) {
  return Error({what, why + room_sentence(run, path),
                "check that its folder exists, may be written and has space left, or name another "
                "one with --store DIR"});
}

}  // namespace uctrace
