#include <span>
#include <system_error>
#include <vector>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace {
namespace {

using hdf5::Failure;
using hdf5::Handle;
using store::Column;
using store::enumerators;
using store::for_each_of;
using store::Stored;
using store::Table;
using store::Unit;

// --- columns -------------------------------------------------------------------------------------

template <typename Value>
void describe(const Handle& dataset, Unit unit, const char* meaning) {
  hdf5::write_attribute(dataset, "unit", store::name_of(unit));
  hdf5::write_attribute(dataset, "meaning", meaning);
  if constexpr (std::is_enum_v<Value>) {
    std::string names;
    for (std::uint32_t i = 0; i < enumerators<Value>(); ++i) {
      names += (i == 0 ? "" : ",") + std::string(name_of(static_cast<Value>(i)));
    }
    hdf5::write_attribute(dataset, "values", names);
  }
}

// Texts lie back to back in `bytes`; text i is bytes[offsets[i] .. offsets[i + 1]).
template <typename TextOf>
Handle save_texts(hid_t parent, const std::string& name, std::size_t count, TextOf text_of) {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    bytes += text_of(i);
    offsets.push_back(bytes.size());
  }
  Handle group = hdf5::create_group(parent, name);
  hdf5::write_values(group, "bytes", hdf5::value_type<std::uint8_t>(), bytes.data(), bytes.size());
  hdf5::write_values(group, "offsets", hdf5::value_type<std::uint64_t>(), offsets.data(),
                     offsets.size());
  return group;
}

template <typename Row, typename Value>
void save_column(hid_t group, const Column<Row, Value>& column, std::span<const Row> rows) {
  if constexpr (std::is_same_v<Value, std::string>) {
    const auto text_of = [&](std::size_t i) -> const std::string& {
      return rows[i].*column.member;
    };
    describe<Value>(save_texts(group, column.name, rows.size(), text_of), column.unit,
                    column.meaning);
  } else {
    std::vector<Stored<Value>> values(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values[i] = static_cast<Stored<Value>>(rows[i].*column.member);
    }
    describe<Value>(hdf5::write_values(group, column.name, hdf5::value_type<Stored<Value>>(),
                                       values.data(), values.size()),
                    column.unit, column.meaning);
  }
}

template <typename Row>
void save_table(hid_t file, std::span<const Row> rows) {
  const Handle group = hdf5::create_group(file, Table<Row>::name);
  for_each_of(Table<Row>::columns, [&](const auto& column) { save_column(group, column, rows); });
}

// --- whole file ----------------------------------------------------------------------------------

void write_run(const Run& run, const std::string& path) {
  Handle file = hdf5::create_file(path);
  hdf5::write_attribute(file, store::kSchemaAttribute, kStoreSchema);
  hdf5::write_attribute(file, "run_id", run.run_id);
  hdf5::write_attribute(file, store::kToolVersionAttribute, log::kToolVersion);
  const std::vector<std::string>& texts = run.texts.all();
  save_texts(file, "texts", texts.size(), [&](std::size_t i) { return texts[i]; });
  save_texts(file, "notes", run.notes.size(), [&](std::size_t i) { return run.notes[i]; });
  save_table(file, std::span(&run, 1));
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    save_table(file, std::span<const Row>(run.*rows));
  });
  file.close("writing the file to the end");
}

}  // namespace

void save_store(const Run& run, const std::filesystem::path& path,
                const std::function<void()>& before_publishing) {
  const hdf5::Quiet quiet;
  std::string why;
  try {
    remove_leftovers(path);
    NewFile file(path);
    write_run(run, file.path_to_open());
    if (before_publishing) before_publishing();
    file.publish();
    return;
  } catch (const Failure& failure) {
    why = failure.what();
  } catch (const std::system_error& error) {
    why = why_not_written(error);
  }
  throw Error({"cannot write the store " + path.string(), why,
               "check that its folder exists, may be written and has space left"});
}

}  // namespace uctrace
