#include <algorithm>
#include <new>

#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
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

std::vector<std::string> load_texts(hid_t parent, const std::string& name) {
  const Handle group = hdf5::open_group(parent, name);
  const auto bytes = hdf5::read_column<std::uint8_t>(group, "bytes");
  const auto offsets = hdf5::read_column<std::uint64_t>(group, "offsets");
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != bytes.size() ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    throw Failure("reading " + name + " failed (its offsets do not fit its bytes)");
  }
  std::vector<std::string> texts(offsets.size() - 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].assign(reinterpret_cast<const char*>(bytes.data()) + offsets[i],
                    offsets[i + 1] - offsets[i]);
  }
  return texts;
}

// The first column of a table to be read makes its rows, the others must be as long.
template <typename Row>
void expect_rows(std::vector<Row>& rows, std::size_t count, bool first, const char* column) {
  if (first) rows.resize(count);
  if (rows.size() != count) {
    throw Failure(std::string("reading ") + column + " failed (it is not as long as its table)");
  }
}

template <typename Row, typename Value>
void load_column(hid_t group, const Column<Row, Value>& column, bool first,
                 std::vector<Row>& rows) {
  if constexpr (std::is_same_v<Value, std::string>) {
    std::vector<std::string> texts = load_texts(group, column.name);
    expect_rows(rows, texts.size(), first, column.name);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column.member = std::move(texts[i]);
  } else {
    const auto values = hdf5::read_column<Stored<Value>>(group, column.name);
    expect_rows(rows, values.size(), first, column.name);
    if constexpr (std::is_enum_v<Value>) {
      const std::uint32_t end = enumerators<Value>();
      if (std::any_of(values.begin(), values.end(), [&](auto value) { return value >= end; })) {
        throw Failure(std::string("reading ") + column.name + " failed (it holds unknown values)");
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].*column.member = static_cast<Value>(values[i]);
    }
  }
}

template <typename Row>
void load_table(hid_t file, std::vector<Row>& rows) {
  const Handle group = hdf5::open_group(file, Table<Row>::name);
  bool first = true;
  for_each_of(Table<Row>::columns, [&](const auto& column) {
    load_column(group, column, first, rows);
    first = false;
  });
}

// --- references ----------------------------------------------------------------------------------

std::size_t rows_behind(const Run& run, Unit unit) {
  switch (unit) {
    case Unit::text:
      return run.texts.all().size();
    case Unit::process:
      return run.processes.size();
    case Unit::message:
      return run.messages.size();
    case Unit::stack:
      return run.stacks.size();
    case Unit::frame:
      return run.frames.size();
    case Unit::call_site:
      return run.call_sites.size();
    case Unit::communicator:
      return run.communicators.size();
    case Unit::mpi_call:
      return run.mpi_calls.size();
    case Unit::datatype:
      return run.datatypes.size();
    case Unit::gpu:
      return run.gpus.size();
    case Unit::device_memory:
      return run.device_memory.size();
    case Unit::nic:
      return run.nics.size();
    default:
      return 0;
  }
}

template <typename Row>
void check_references(const Run& run, const std::vector<Row>& rows) {
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      if (column.unit != Unit::text && !store::is_reference(column.unit)) return;
      const std::size_t end = rows_behind(run, column.unit);
      for (const Row& row : rows) {
        const Value value = row.*column.member;
        const bool is_none = std::is_signed_v<Value> && value == static_cast<Value>(-1);
        if (!is_none && static_cast<std::uint64_t>(value) >= end) {
          throw Failure(std::string("checking ") + Table<Row>::name + "/" + column.name +
                        " failed (it points outside of its table)");
        }
      }
    }
  });
}

void check_ranges(const Run& run) {
  for (const Message& message : run.messages) {
    if (std::uint64_t{message.first_hop} + message.hops > run.hops.size()) {
      throw Failure("checking messages/first_hop failed (it points outside of its table)");
    }
  }
  for (const Communicator& comm : run.communicators) {
    if (std::uint64_t{comm.first_member} + comm.members > run.communicator_members.size()) {
      throw Failure("checking communicators/first_member failed (it points outside of its table)");
    }
  }
  for (const CallStack& stack : run.stacks) {
    if (std::uint64_t{stack.first_frame} + stack.frames > run.stack_frames.size()) {
      throw Failure("checking stacks/first_frame failed (it points outside of its table)");
    }
  }
}

// --- whole file ----------------------------------------------------------------------------------

Texts intern_all(const std::vector<std::string>& stored) {
  Texts texts;
  for (TextId id = 0; id < stored.size(); ++id) {
    if (texts.intern(stored[id]) != id) {
      throw Failure("reading texts failed (a text is there twice, or the first is not empty)");
    }
  }
  return texts;
}

Run read_head(const Handle& file) {
  std::vector<Run> single;
  load_table(file, single);
  if (single.size() != 1) throw Failure("reading run failed (it does not have one row)");
  load_table(file, single.front().sources);
  return std::move(single.front());
}

Run read_run(const Handle& file, Rows rows_wanted) {
  Run run = read_head(file);
  run.texts = intern_all(load_texts(file, "texts"));
  run.notes = load_texts(file, "notes");
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if (rows_wanted == Rows::all || !store::kGrows<Row>) load_table(file, run.*rows);
  });
  for_each_of(store::kTables, [&](auto rows) { check_references(run, run.*rows); });
  check_ranges(run);
  return run;
}

constexpr const char* kMergeAgain = "merge the logs again with `uctrace merge`";

[[noreturn]] void refuse(const std::filesystem::path& path, std::string why, std::string to_do) {
  throw Error({"cannot read the store " + path.string(), std::move(why), std::move(to_do)});
}

void check_schema(const Handle& file, const std::filesystem::path& path) {
  std::uint32_t schema = 0;
  try {
    schema = hdf5::read_number_attribute(file, store::kSchemaAttribute);
  } catch (const Failure&) {
    refuse(path, "it is an HDF5 file that uctrace did not write", "name a store of uctrace");
  }
  if (schema == kStoreSchema) return;
  refuse(path,
         "it has schema " + std::to_string(schema) + ", this uctrace reads schema " +
             std::to_string(kStoreSchema),
         schema > kStoreSchema ? "use the newer uctrace that made it" : kMergeAgain);
}

}  // namespace

std::optional<Run> load_store(const std::filesystem::path& path, Rows rows,
                              const StoreWanted& is_wanted) {
  const hdf5::Quiet quiet;
  log::InputFile input(path.string());  // HDF5 would wait for a pipe
  if (input.is_missing()) refuse(path, "there is no such file", kMergeAgain);
  if (!input.is_open()) {
    const Problem problem = input.failure("").problem();
    refuse(path, problem.why, problem.to_do);
  }
  const std::string open_file = input.path_to_open(path.string());
  if (H5Fis_hdf5(open_file.c_str()) <= 0) {
    refuse(path, "it is not an HDF5 file, or not a readable one", kMergeAgain);
  }
  try {
    const Handle file = hdf5::open_file(open_file);
    check_schema(file, path);
    if (is_wanted && !is_wanted(read_head(file),
                                hdf5::read_text_attribute(file, store::kToolVersionAttribute))) {
      return std::nullopt;
    }
    return read_run(file, rows);
  } catch (const Failure& failure) {
    refuse(path, failure.what(), kMergeAgain);
  } catch (const std::bad_alloc&) {
    refuse(path, "it does not fit into memory", "use a machine with more memory");
  }
}

Run load_store(const std::filesystem::path& path, Rows rows) { return *load_store(path, rows, {}); }

bool is_store(const std::filesystem::path& path) {
  const hdf5::Quiet quiet;
  const log::InputFile input(path.string());
  if (!input.is_open()) return false;
  const std::string open_file = input.path_to_open(path.string());
  if (H5Fis_hdf5(open_file.c_str()) <= 0) return false;
  try {
    hdf5::read_number_attribute(hdf5::open_file(open_file), store::kSchemaAttribute);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace uctrace
