#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <typeinfo>
#include <utility>

#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "log-merger/folder/file_identity.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_tables.hpp"
#include "log-merger/store/stored_table.hpp"
#include "log-merger/summaries/time_slabs.hpp"

namespace uctrace {
namespace {

using hdf5::Failure;
using hdf5::Handle;
using store::Column;
using store::for_each_of;
using store::RowCounts;
using store::Stored;
using store::StoredTable;
using store::Table;

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

// The first column read from a table creates its rows; the others must have the same length.
template <typename Row>
void expect_rows(std::vector<Row>& rows, std::size_t count, bool first, const char* column) {
  if (first) rows.resize(count);
  if (rows.size() != count) store::refuse_length(column);
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
    store::fill(column, values, std::span(rows));
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

void check_ranges(const Run& run) {
  for (const Communicator& comm : run.communicators) {
    if (std::uint64_t{comm.first_member} + comm.members > run.communicator_members.size()) {
      throw Failure("checking communicators/first_member failed (it points outside of its table)");
    }
  }
  for (const Setting& setting : run.settings) {
    if (std::uint64_t{setting.first_process} + setting.processes > run.processes.size()) {
      throw Failure("checking settings/first_process failed (it points outside of its table)");
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

// The facts that identify the wanted store.
Run read_identity(hid_t file) {
  std::vector<Run> single;
  load_table(file, single);
  if (single.size() != 1) throw Failure("reading run failed (it does not have one row)");
  load_table(file, single.front().sources);
  return std::move(single.front());
}

// All but the tables that grow.
Run read_head(hid_t file) {
  Run run = read_identity(file);
  run.texts = intern_all(load_texts(file, "texts"));
  run.notes = load_texts(file, "notes");
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if (!store::kGrows<Row>) load_table(file, run.*rows);
  });
  RowCounts counts(run);
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*) {
    if constexpr (store::kGrows<Row>) counts.set<Row>(store::StoredTable<Row>(file).count());
  });
  for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if (!store::kGrows<Row>) {
      store::check_references<Row>(counts, run.*rows, Wanted<Row>::all());
    }
  });
  check_ranges(run);
  const bool axis_can_be = run.slabs == 0 || (run.slabs <= kMostSlabs && run.slab_ns > 0 &&
                                              run.slab_ns <= store::kFarthestNs / kMostSlabs);
  if (!axis_can_be) throw Failure("checking run/slabs failed (no run has such slabs of time)");
  return run;
}

constexpr const char* kMergeAgain = "merge the logs again with `uctrace merge`";

[[noreturn]] void refuse(const std::filesystem::path& path, std::string why, std::string to_do) {
  throw UnreadableStore(
      {"cannot read the store " + path.string(), std::move(why), std::move(to_do)});
}

// Errors of HDF5, or of our checks, are reported with the store's path.
template <typename Read>
auto reading(const std::filesystem::path& path, Read read) {
  const hdf5::Quiet quiet;
  try {
    return read();
  } catch (const Failure& failure) {
    refuse(path, failure.what(), kMergeAgain);
  } catch (const std::bad_alloc& error) {
    if (typeid(error) != typeid(std::bad_alloc)) throw;  // the other error tells more
    refuse(path, "it does not fit into memory", "use a machine with more memory");
  }
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

// --- tables that grow ----------------------------------------------------------------------------

// Shared by the tables of an open store. Closed with the last reader.
struct StoreFile {
  std::filesystem::path path;
  std::unique_ptr<log::InputFile> input;
  Handle file;
  RowCounts counts;

  // What another program wrote over an open store may have right checksums, of another run.
  void check_unchanged() const {
    if (!input->is_unchanged()) refuse(path, "it was changed after it was opened", kMergeAgain);
  }
};

template <typename Row>
class StoredRows final : public TableReader<Row> {
 public:
  explicit StoredRows(std::shared_ptr<StoreFile> store)
      : store_(std::move(store)), table_(store_->file) {}

  std::size_t count() const override { return table_.count(); }

  std::span<const Row> read(std::size_t first, std::size_t end, const Wanted<Row>& wanted,
                            std::vector<Row>& buffer) const override {
    return reading(store_->path, [&]() -> std::span<const Row> {
      buffer.assign(end - first, Row{});
      table_.read(first, buffer, wanted);
      store::check_references<Row>(store_->counts, buffer, wanted);
      check_ranges(first, buffer, wanted);
      store_->check_unchanged();
      return buffer;
    });
  }

 private:
  void check_ranges(std::size_t first, std::span<const Row> rows, const Wanted<Row>& wanted) const {
    if constexpr (store::kHasRange<Row>) {
      const std::size_t end = std::as_const(store_->counts).of(store::range_of<Row>().unit);
      store::check_ranges<Row>(end, first, rows, wanted, ranges_read_);
    }
  }

  std::shared_ptr<StoreFile> store_;
  mutable StoredTable<Row> table_;
  mutable store::RangesRead ranges_read_;
};

template <typename Row>
RowSource::Reader<Row> rows_of(const std::shared_ptr<StoreFile>& store) {
  auto rows = std::make_shared<const StoredRows<Row>>(store);
  store->counts.set<Row>(rows->count());
  return rows;
}

std::shared_ptr<StoreFile> open_once(const std::filesystem::path& path) {
  auto input = std::make_unique<log::InputFile>(path.string());  // HDF5 would wait for a pipe
  if (input->is_missing()) refuse(path, "there is no such file", kMergeAgain);
  if (!input->is_open()) {
    const Problem problem = input->failure("").problem();
    refuse(path, problem.why, problem.to_do);
  }
  const std::string name = input->path_to_open(path.string());
  if (H5Fis_hdf5(name.c_str()) <= 0) {
    refuse(path, "it is not an HDF5 file, or not a readable one", kMergeAgain);
  }
  std::shared_ptr<StoreFile> store(
      new StoreFile{path, std::move(input), hdf5::open_file(name), {}});
  check_schema(store->file, path);
  return store;
}

// HDF5 cannot open a file that another merge has just replaced: then try the new one.
constexpr int kMostLooks = 100;

bool was_replaced(const std::filesystem::path& path, const std::optional<FileIdentity>& before) {
  return before && !are_same(before, identity_of_name(path));
}

std::shared_ptr<StoreFile> open_file(const std::filesystem::path& path) {
  for (int looks = 1;; ++looks) {
    const auto before = identity_of_name(path);
    try {
      return open_once(path);
    } catch (...) {
      if (looks == kMostLooks || !was_replaced(path, before)) throw;
    }
  }
}

// Nothing if the store is not the wanted one.
std::optional<Run> head_of(const StoreFile& store, const StoreWanted& is_wanted) {
  if (is_wanted &&
      !is_wanted(read_identity(store.file),
                 hdf5::read_text_attribute(store.file, store::kToolVersionAttribute))) {
    return std::nullopt;
  }
  Run head = read_head(store.file);
  store.check_unchanged();
  return head;
}

StoredRun with_rows(Run head, const std::shared_ptr<StoreFile>& store) {
  store->counts = RowCounts(head);
  return std::apply(
      [&]<typename... Row>(const RowSource::Reader<Row>&...) {
        return StoredRun{std::move(head), {rows_of<Row>(store)...}};
      },
      RowSource::Readers());
}

}  // namespace

std::optional<StoredRun> open_store(const std::filesystem::path& path,
                                    const StoreWanted& is_wanted) {
  return reading(path, [&]() -> std::optional<StoredRun> {
    const std::shared_ptr<StoreFile> store = open_file(path);
    std::optional<Run> head = head_of(*store, is_wanted);
    if (!head) return std::nullopt;
    return with_rows(std::move(*head), store);
  });
}

std::optional<Run> load_store(const std::filesystem::path& path, Rows rows,
                              const StoreWanted& is_wanted) {
  return reading(path, [&] {
    const std::shared_ptr<StoreFile> store = open_file(path);
    std::optional<Run> run = head_of(*store, is_wanted);
    if (!run || rows == Rows::of_run) return run;
    StoredRun stored = with_rows(std::move(*run), store);
    std::apply(
        [&]<typename... Row>(const RowSource::Reader<Row>&... readers) {
          (readers->read(0, readers->count(), Wanted<Row>::all(), stored.head.*store::kRows<Row>),
           ...);
        },
        stored.readers);
    return std::optional<Run>(std::move(stored.head));
  });
}

Run load_store(const std::filesystem::path& path, Rows rows) { return *load_store(path, rows, {}); }

namespace {

bool looks_like_store(const std::filesystem::path& path) {
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

}  // namespace

bool is_store(const std::filesystem::path& path) {
  const hdf5::Quiet quiet;
  for (int looks = 1; looks <= kMostLooks; ++looks) {
    const auto before = identity_of_name(path);
    if (looks_like_store(path)) return true;
    if (!was_replaced(path, before)) return false;
  }
  return false;
}

}  // namespace uctrace
