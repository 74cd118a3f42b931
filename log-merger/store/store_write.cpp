#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "event-log/format/fnv.hpp"
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

// A dataset to write, and the source of its values.
struct Dataset {
  std::string name;
  hdf5::ValueType type;
  std::size_t value_bytes, count;
  // Writes the values [begin, end) to memory; called from several threads in parallel.
  std::function<void(std::size_t begin, std::size_t end, std::uint8_t* values)> copy;
  std::function<void(const Handle&)> describe;
  // Also store chunks that contain only the fill value (the dataset's first value).
  bool whole = true;
  bool shuffled = true;

  std::size_t chunks() const { return (count + store::kChunkValues - 1) / store::kChunkValues; }
};

// The packing threads of each rank. The first rank writes; the others' file is in memory and takes
// no chunks.
struct Packers {
  const Workers& workers;
  const Ranks& ranks;
};

// Writes the datasets of a group in their order. A batch of chunks is packed before it is written,
// independent of the datasets' lengths; the chunks are dealt out to the ranks in turn.
class DatasetWriter {
 public:
  DatasetWriter(hid_t group, const Packers& packers)
      : group_(group), workers_(packers.workers), ranks_(packers.ranks) {}

  void add(Dataset dataset) { datasets_.push_back(std::move(dataset)); }

  void write() {
    std::vector<Place> places;
    for (const Dataset& dataset : datasets_) {
      for (std::size_t chunk = 0; chunk < std::max<std::size_t>(dataset.chunks(), 1); ++chunk) {
        places.push_back({&dataset, chunk});
      }
    }
    // Ranks may have different numbers of threads, and need batches of the same size.
    const std::size_t of_rank =
        ranks_.size() == 1 ? kChunksOfThread * workers_.threads() : kChunksOfRank;
    const std::size_t batch = of_rank * ranks_.size();
    std::optional<Handle> open;
    for (std::size_t first = 0; first < places.size(); first += batch) {
      const std::size_t count = std::min(batch, places.size() - first);
      const std::vector<Packed> packed = pack(std::span(places).subspan(first, count));
      for (std::size_t i = 0; i < count; ++i) {
        const auto& [dataset, chunk] = places[first + i];
        if (chunk == 0) open.emplace(create(*dataset));
        if (!packed[i].empty()) hdf5::write_chunk(*open, dataset->name, chunk, packed[i]);
      }
    }
  }

 private:
  static constexpr std::size_t kChunksOfThread = 16, kChunksOfRank = 64;
  struct Place {
    const Dataset* dataset;
    std::size_t chunk;
  };
  using Packed = std::vector<std::uint8_t>;
  using FirstValue = std::array<std::uint8_t, sizeof(std::uint64_t)>;

  static FirstValue first_of(const Dataset& dataset) {
    FirstValue first{};
    if (dataset.count != 0) dataset.copy(0, 1, first.data());
    return first;
  }

  Handle create(const Dataset& dataset) const {
    const FirstValue fill = first_of(dataset);
    Handle handle = hdf5::create_values(group_, dataset.name, dataset.type, dataset.count,
                                        fill.data(), dataset.shuffled);
    if (dataset.describe) dataset.describe(handle);
    return handle;
  }

  // All of them on the first rank, on the others nothing.
  std::vector<Packed> pack(std::span<const Place> places) const {
    std::vector<Packed> packed(places.size());
    const std::size_t ranks = ranks_.size(), rank = ranks_.rank();
    const std::size_t own = places.size() / ranks + (rank < places.size() % ranks ? 1 : 0);
    workers_.each(own, [&](std::size_t i) {
      const Place& place = places[rank + i * ranks];
      packed[rank + i * ranks] = pack(*place.dataset, place.chunk);
    });
    if (ranks > 1) exchange(packed);
    return packed;
  }

  [[noreturn]] static void refuse_rank() {
    throw Failure("packing by several processes failed (one packed other chunks)");
  }

  // The contribution of each rank: its chunks in order, each preceded by its length.
  void exchange(std::vector<Packed>& packed) const {
    Packed own;
    for (std::size_t i = ranks_.rank(); i < packed.size(); i += ranks_.size()) {
      const std::uint64_t bytes = packed[i].size();
      const auto* const length = reinterpret_cast<const std::uint8_t*>(&bytes);
      own.insert(own.end(), length, length + sizeof bytes);
      own.insert(own.end(), packed[i].begin(), packed[i].end());
      packed[i].clear();
    }
    const std::vector<Packed> of_ranks = ranks_.gather(own);
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      std::span<const std::uint8_t> rest = of_ranks[rank];
      for (std::size_t i = rank; i < packed.size(); i += of_ranks.size()) {
        std::uint64_t bytes = 0;
        if (rest.size() < sizeof bytes) refuse_rank();
        std::memcpy(&bytes, rest.data(), sizeof bytes);
        rest = rest.subspan(sizeof bytes);
        if (rest.size() < bytes) refuse_rank();
        packed[i].assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(bytes));
        rest = rest.subspan(bytes);
      }
      if (!rest.empty()) refuse_rank();
    }
  }

  // Empty for a chunk that need not be stored. The last chunk is padded.
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
    return store::pack_chunk(values, size, dataset.shuffled);
  }

  const hid_t group_;
  const Workers& workers_;
  const Ranks& ranks_;
  std::vector<Dataset> datasets_;
};

template <typename Value>
Dataset dataset_of(std::string name, std::span<const Value> values) {
  const auto copy = [values](std::size_t begin, std::size_t end, std::uint8_t* to) {
    std::memcpy(to, &values[begin], (end - begin) * sizeof(Value));
  };
  return {std::move(name), hdf5::value_type<Value>(), sizeof(Value), values.size(), copy, {}};
}

// Texts are concatenated in `bytes`; text i is bytes[offsets[i] .. offsets[i + 1]).
template <typename TextOf>
Handle save_texts(hid_t parent, const std::string& name, std::size_t count, TextOf text_of,
                  const Packers& packers) {
  std::string bytes;
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    bytes += text_of(i);
    offsets.push_back(bytes.size());
  }
  Handle group = hdf5::create_group(parent, name);
  DatasetWriter writer(group, packers);
  const std::span text(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  writer.add(dataset_of("bytes", text));
  writer.add(dataset_of("offsets", std::span<const std::uint64_t>(offsets)));
  writer.write();
  return group;
}

// The value of a row in a dataset.
template <typename Row, typename Value>
Stored<Value> stored(const Column<Row, Value>& column, const Row& row) {
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    if (column.base != nullptr) return store::minus(row.*column.member, row.*column.base);
  }
  return static_cast<Stored<Value>>(row.*column.member);
}

template <typename Row, typename Value>
Dataset dataset_of(const Column<Row, Value>& column, std::span<const Row> rows) {
  using InFile = Stored<Value>;
  const auto copy = [rows, &column](std::size_t begin, std::size_t end, std::uint8_t* to) {
    for (std::size_t i = begin; i < end; ++i, to += sizeof(InFile)) {
      const InFile value = stored(column, rows[i]);
      std::memcpy(to, &value, sizeof value);
    }
  };
  const auto tell = [&column](const Handle& dataset) {
    describe<Value>(dataset, column.unit, column.meaning);
  };
  Dataset dataset{column.name, hdf5::value_type<InFile>(), sizeof(InFile), rows.size(), copy, tell};
  dataset.shuffled = store::is_shuffled(column.unit);
  return dataset;
}

// The first column of numbers is stored completely and defines the number of rows.
template <typename Row>
void save_table(hid_t file, std::span<const Row> rows, const Packers& packers) {
  const Handle group = hdf5::create_group(file, Table<Row>::name);
  DatasetWriter numbers(group, packers);
  bool counted = false;
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_same_v<Value, std::string>) {
      const auto text_of = [&](std::size_t i) -> const std::string& {
        return rows[i].*column.member;
      };
      describe<Value>(save_texts(group, column.name, rows.size(), text_of, packers), column.unit,
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

void write_run(const Run& run, Handle& file, const Packers& packers) {
  hdf5::write_attribute(file, store::kSchemaAttribute, kStoreSchema);
  hdf5::write_attribute(file, "run_id", run.run_id);
  hdf5::write_attribute(file, store::kToolVersionAttribute, log::kToolVersion);
  const std::vector<std::string>& texts = run.texts.all();
  save_texts(
      file, "texts", texts.size(), [&](std::size_t i) { return texts[i]; }, packers);
  save_texts(
      file, "notes", run.notes.size(), [&](std::size_t i) { return run.notes[i]; }, packers);
  save_table(file, std::span(&run, 1), packers);
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    save_table(file, std::span<const Row>(run.*rows), packers);
  });
  file.close("writing the file to the end");
}

}  // namespace

void save_store(const Run& run, const std::filesystem::path& path,
                const std::function<void()>& before_publishing, const Workers& workers,
                const Ranks& ranks) {
  const hdf5::Quiet quiet;
  std::string why;
  try {
    remove_leftovers(path);
    NewFile file(path);
    Handle opened = hdf5::create_file(file.path_to_open());
    write_run(run, opened, {workers, ranks});
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

std::uint64_t digest_of(const Run& run) {
  log::Fnv64 digest;
  const auto add_number = [&](std::uint64_t number) {
    digest.add(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
  };
  const auto add_texts = [&](const std::vector<std::string>& texts) {
    add_number(texts.size());
    for (const std::string& text : texts) {
      add_number(text.size());
      digest.add(text);
    }
  };
  add_texts(run.texts.all());
  add_texts(run.notes);
  add_texts({run.run_id, run.command, run.info_json});
  add_number(static_cast<std::uint64_t>(run.last_ns));
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    const std::span<const Row> all = run.*rows;
    add_number(all.size());
    if (store::kGrows<Row>) return;
    for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
      for (const Row& row : all) {
        if constexpr (std::is_same_v<Value, std::string>) {
          add_texts({row.*column.member});
        } else {
          add_number(static_cast<std::uint64_t>(row.*column.member));
        }
      }
    });
  });
  return digest.value();
}

void help_to_store(const Run& run, const Workers& workers, const Ranks& ranks) {
  const hdf5::Quiet quiet;
  Handle file = hdf5::create_file_in_memory();
  write_run(run, file, {workers, ranks});
}

}  // namespace uctrace
