#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/store/store_chunks.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_room.hpp"
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

// A dataset that is about to be written, and how its values are had.
struct Dataset {
  std::string name;
  hdf5::ValueType type;
  std::size_t value_bytes, count;
  // Puts the values [begin, end) there; called from several threads at once.
  std::function<void(std::size_t begin, std::size_t end, std::uint8_t* values)> copy;
  std::function<void(const Handle&)> describe;
  // Also chunks that hold nothing but the fill value, the dataset's first, are stored.
  bool whole = true;

  std::size_t chunks() const { return (count + store::kChunkValues - 1) / store::kChunkValues; }
};

// Writes the datasets of a group in their order. What is read, packed and not yet written is a
// batch of chunks, however long they are.
class DatasetWriter {
 public:
  DatasetWriter(hid_t group, const Workers& workers) : group_(group), workers_(workers) {}

  void add(Dataset dataset) { datasets_.push_back(std::move(dataset)); }

  void write() {
    struct Place {
      const Dataset* dataset;
      std::size_t chunk;
    };
    std::vector<Place> places;
    for (const Dataset& dataset : datasets_) {
      for (std::size_t chunk = 0; chunk < std::max<std::size_t>(dataset.chunks(), 1); ++chunk) {
        places.push_back({&dataset, chunk});
      }
    }
    const std::size_t batch = kChunksOfThread * workers_.threads();
    std::vector<std::vector<std::uint8_t>> packed(batch);
    std::optional<Handle> open;
    for (std::size_t first = 0; first < places.size(); first += batch) {
      const std::size_t count = std::min(batch, places.size() - first);
      workers_.each(count, [&](std::size_t i) {
        packed[i] = pack(*places[first + i].dataset, places[first + i].chunk);
      });
      for (std::size_t i = 0; i < count; ++i) {
        const auto& [dataset, chunk] = places[first + i];
        if (chunk == 0) open.emplace(create(*dataset));
        if (!packed[i].empty()) hdf5::write_chunk(*open, dataset->name, chunk, packed[i]);
      }
    }
  }

 private:
  static constexpr std::size_t kChunksOfThread = 16;
  using FirstValue = std::array<std::uint8_t, sizeof(std::uint64_t)>;

  static FirstValue first_of(const Dataset& dataset) {
    FirstValue first{};
    if (dataset.count != 0) dataset.copy(0, 1, first.data());
    return first;
  }

  Handle create(const Dataset& dataset) const {
    const FirstValue fill = first_of(dataset);
    Handle handle =
        hdf5::create_values(group_, dataset.name, dataset.type, dataset.count, fill.data());
    if (dataset.describe) dataset.describe(handle);
    return handle;
  }

  // Nothing of a chunk that need not be stored. Behind the last value the last chunk is filled up.
  static std::vector<std::uint8_t> pack(const Dataset& dataset, std::size_t chunk) {
    if (dataset.count == 0) return {};
    const std::size_t size = dataset.value_bytes;
    std::vector<std::uint8_t> values(hdf5::chunk_values(dataset.count) * size);
    const std::size_t begin = chunk * store::kChunkValues;
    const std::size_t end = std::min(dataset.count, begin + store::kChunkValues);
    dataset.copy(begin, end, values.data());
    const FirstValue fill = first_of(dataset);
    for (std::size_t at = (end - begin) * size; at < values.size(); at += size) {
      std::memcpy(&values[at], fill.data(), size);
    }
    const bool all_alike =
        std::memcmp(values.data(), fill.data(), size) == 0 &&
        std::memcmp(values.data(), values.data() + size, values.size() - size) == 0;
    if (all_alike && !dataset.whole) return {};
    return store::pack_chunk(values, size);
  }

  const hid_t group_;
  const Workers& workers_;
  std::vector<Dataset> datasets_;
};

template <typename Value>
Dataset dataset_of(std::string name, std::span<const Value> values) {
  const auto copy = [values](std::size_t begin, std::size_t end, std::uint8_t* to) {
    std::memcpy(to, &values[begin], (end - begin) * sizeof(Value));
  };
  return {std::move(name), hdf5::value_type<Value>(), sizeof(Value), values.size(), copy, {}};
}

// Texts lie back to back in `bytes`; text i is bytes[offsets[i] .. offsets[i + 1]).
template <typename TextOf>
Handle save_texts(hid_t parent, const std::string& name, std::size_t count, TextOf text_of,
                  const Workers& workers) {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    bytes += text_of(i);
    offsets.push_back(bytes.size());
  }
  Handle group = hdf5::create_group(parent, name);
  DatasetWriter writer(group, workers);
  const std::span text(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  writer.add(dataset_of("bytes", text));
  writer.add(dataset_of("offsets", std::span<const std::uint64_t>(offsets)));
  writer.write();
  return group;
}

template <typename Row, typename Value>
Dataset dataset_of(const Column<Row, Value>& column, std::span<const Row> rows) {
  using InFile = Stored<Value>;
  const auto copy = [rows, &column](std::size_t begin, std::size_t end, std::uint8_t* to) {
    for (std::size_t i = begin; i < end; ++i, to += sizeof(InFile)) {
      const auto value = static_cast<InFile>(rows[i].*column.member);
      std::memcpy(to, &value, sizeof value);
    }
  };
  const auto tell = [&column](const Handle& dataset) {
    describe<Value>(dataset, column.unit, column.meaning);
  };
  return {column.name, hdf5::value_type<InFile>(), sizeof(InFile), rows.size(), copy, tell};
}

// The first column of numbers is stored in whole and tells how many rows there are.
template <typename Row>
void save_table(hid_t file, std::span<const Row> rows, const Workers& workers) {
  const Handle group = hdf5::create_group(file, Table<Row>::name);
  DatasetWriter numbers(group, workers);
  bool counted = false;
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_same_v<Value, std::string>) {
      const auto text_of = [&](std::size_t i) -> const std::string& {
        return rows[i].*column.member;
      };
      describe<Value>(save_texts(group, column.name, rows.size(), text_of, workers), column.unit,
                      column.meaning);
    } else {
      Dataset dataset = dataset_of(column, rows);
      dataset.whole = !counted;
      if (!counted) hdf5::write_attribute(group, hdf5::kCountedBy, std::string(column.name));
      counted = true;
      numbers.add(std::move(dataset));
    }
  });
  numbers.write();
}

// --- whole file ----------------------------------------------------------------------------------

void write_run(const Run& run, const std::string& path, const Workers& workers) {
  Handle file = hdf5::create_file(path);
  hdf5::write_attribute(file, store::kSchemaAttribute, kStoreSchema);
  hdf5::write_attribute(file, "run_id", run.run_id);
  hdf5::write_attribute(file, store::kToolVersionAttribute, log::kToolVersion);
  const std::vector<std::string>& texts = run.texts.all();
  save_texts(
      file, "texts", texts.size(), [&](std::size_t i) { return texts[i]; }, workers);
  save_texts(
      file, "notes", run.notes.size(), [&](std::size_t i) { return run.notes[i]; }, workers);
  save_table(file, std::span(&run, 1), workers);
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    save_table(file, std::span<const Row>(run.*rows), workers);
  });
  file.close("writing the file to the end");
}

}  // namespace

void save_store(const Run& run, const std::filesystem::path& path,
                const std::function<void()>& before_publishing, const Workers& workers) {
  const hdf5::Quiet quiet;
  std::string why;
  try {
    remove_leftovers(path);
    NewFile file(path);
    write_run(run, file.path_to_open(), workers);
    if (before_publishing) before_publishing();
    file.publish();
    return;
  } catch (const Failure& failure) {
    why = failure.what();
  } catch (const std::system_error& error) {
    why = why_not_written(error);
  }
  throw no_store("cannot write the store " + path.string(), why, run, path);
}

}  // namespace uctrace
