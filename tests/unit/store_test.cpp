#include "log-merger/store/store.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/store/store_chunks.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_tables.hpp"
#include "tests/unit/store_files.hpp"
#include "tests/unit/stored_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace {

namespace fs = std::filesystem;

namespace {

// A member that no column names would leave a hole of its size in this sum.
template <typename Row>
constexpr std::size_t declared_bytes() {
  return std::apply(
      [](const auto&... column) { return (sizeof(std::declval<Row>().*column.member) + ...); },
      store::Table<Row>::columns);
}
static_assert(declared_bytes<Message>() + alignof(Message) > sizeof(Message));
static_assert(declared_bytes<Hop>() + 2 * alignof(Hop) > sizeof(Hop));
static_assert(declared_bytes<Transfer>() + 2 * alignof(Transfer) > sizeof(Transfer));
static_assert(declared_bytes<UcpOperationRow>() + alignof(UcpOperationRow) >
              sizeof(UcpOperationRow));
static_assert(declared_bytes<DeviceMemoryRow>() + alignof(DeviceMemoryRow) >
              sizeof(DeviceMemoryRow));
static_assert(declared_bytes<MessageSum>() + alignof(MessageSum) > sizeof(MessageSum));
static_assert(declared_bytes<HopSum>() + alignof(HopSum) > sizeof(HopSum));
static_assert(declared_bytes<CallSum>() + alignof(CallSum) > sizeof(CallSum));
static_assert(declared_bytes<OperationSum>() + alignof(OperationSum) > sizeof(OperationSum));
static_assert(declared_bytes<TransferSum>() + alignof(TransferSum) > sizeof(TransferSum));
static_assert(declared_bytes<Nic>() + alignof(Nic) > sizeof(Nic));
static_assert(declared_bytes<GpuNic>() + alignof(GpuNic) > sizeof(GpuNic));

}  // namespace

TEST_CASE("a store gives back the run that was saved") {
  const test::TemporaryFolder folder;
  for (const Sizes sizes : {Sizes{0, 0}, Sizes{1, 1}, Sizes{50, 7}, Sizes{300, 1000}}) {
    CAPTURE(sizes.rows);
    Run run = RandomRun(sizes.rows).make(sizes);
    save_store(run, folder / "a.h5");
    check_same(run, load_store(folder / "a.h5"));
  }
  Run large;
  large.transfers.resize(200000);  // several chunks
  large.processes.resize(1);
  for (std::size_t i = 0; i < large.transfers.size(); ++i) large.transfers[i].wire_bytes = i * i;
  save_store(large, folder / "a.h5");
  check_same(large, load_store(folder / "a.h5"));
  CHECK(folder.files() == 1);
}

TEST_CASE("the bytes of a store do not depend on the number of threads") {
  const test::TemporaryFolder folder;
  Run run = RandomRun(7).make({100, 1000});
  run.transfers.resize(3 * store::kChunkValues + 17);
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    run.transfers[i].wire_bytes = i < store::kChunkValues ? 0 : i;  // its first chunk is not stored
  }
  save_store(run, folder / "one.h5");
  const std::string by_one = bytes_of(folder / "one.h5");
  for (const std::size_t threads : {2, 5}) {
    save_store(run, folder / "several.h5", {}, Workers(threads));
    CHECK(bytes_of(folder / "several.h5") == by_one);
  }
  check_same(run, load_store(folder / "several.h5"));
}

std::uint64_t stored_bytes(const fs::path& path, const std::string& table, const char* column) {
  const hdf5::Quiet quiet;
  const hdf5::Handle file = hdf5::open_file(path.string());
  const hdf5::Handle group = hdf5::open_group(file, table);
  return H5Dget_storage_size(
      hdf5::open_values(group, column, hdf5::value_type<std::uint64_t>()).dataset);
}

constexpr const char* kWireBytes = "wire_bytes_minus_payload_bytes";

TEST_CASE(
    "a column in which all is one value takes no room, but for the one that counts the rows") {
  const test::TemporaryFolder folder;
  Run run;
  run.processes.resize(1);
  run.transfers.resize(100000, {.wire_bytes = 77});
  save_store(run, folder / "a.h5");
  CHECK(stored_bytes(folder / "a.h5", "transfers", kWireBytes) == 0);
  run.transfers.back().wire_bytes = 78;  // in the second chunk
  save_store(run, folder / "a.h5");
  const std::uint64_t one_chunk = stored_bytes(folder / "a.h5", "transfers", kWireBytes);
  CHECK(one_chunk > 0);
  CHECK(one_chunk < 4096);
  check_same(run, load_store(folder / "a.h5"));
}

TEST_CASE("a difference names the column that it is to, which stands before it") {
  std::size_t differences = 0;
  store::for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*) {
    store::for_each_of(
        store::Table<Row>::columns, [&]<typename Value>(const store::Column<Row, Value>& column) {
          const std::string name = column.name, minus = "_minus_";
          CAPTURE(name);
          REQUIRE((name.find(minus) != std::string::npos) == (column.base != nullptr));
          if (column.base == nullptr) return;
          ++differences;
          bool is_before = true, found = false;
          store::for_each_of(store::Table<Row>::columns, [&](const auto& other) {
            is_before = is_before && name != other.name;
            if (name.substr(name.find(minus) + minus.size()) != other.name) return;
            CHECK(is_before);
            CHECK(other.base == nullptr);
            found = Wanted<Row>(column.base).has(other.member);
          });
          CHECK(found);
        });
  });
  CHECK(differences == 13);
}

// A dataset of nothing but its fill value claims any number of values for some bytes.
TEST_CASE("a column that is not stored holds no more values than one that is") {
  constexpr std::size_t kCounted = 10000, kMany = std::size_t{1} << 40;
  const test::TemporaryFolder folder;
  const hdf5::Quiet quiet;
  const hdf5::Handle file = hdf5::create_file((folder / "a.h5").string());
  const auto type = hdf5::value_type<std::uint64_t>();
  const std::uint64_t zero = 0;
  const std::vector<std::uint8_t> values(kCounted * sizeof zero);
  const std::vector<std::uint8_t> chunk = store::pack_chunk(values, sizeof zero);
  const auto can_be_read = [&](std::size_t claimed, const char* counted_by, std::size_t counted) {
    static int number = 0;
    const hdf5::Handle group = hdf5::create_group(file, "table" + std::to_string(++number));
    hdf5::create_values(group, "column", type, claimed, &zero);
    const hdf5::Handle other = hdf5::create_values(group, "other", type, counted, &zero);
    if (counted == kCounted) hdf5::write_chunk(other, "other", 0, chunk);
    if (*counted_by != '\0')
      hdf5::write_attribute(group, hdf5::kCountedBy, std::string(counted_by));
    try {
      return hdf5::read_column<std::uint64_t>(group, "column").size() == claimed;
    } catch (const hdf5::Failure&) {
      return false;
    }
  };
  CHECK(can_be_read(kCounted, "other", kCounted));
  CHECK_FALSE(can_be_read(kCounted, "", kCounted));
  CHECK_FALSE(can_be_read(kCounted + 1, "other", kCounted));
  CHECK_FALSE(can_be_read(kMany, "other", kMany));       // it is not stored either
  CHECK_FALSE(can_be_read(kMany, "column", kCounted));   // itself
  CHECK_FALSE(can_be_read(kMany, "nothing", kCounted));  // not there
}

TEST_CASE("bytes of values are put together, and words summed up, as HDF5 does") {
  const std::uint8_t values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::uint8_t planes[8];
  const auto shuffled = [&](std::size_t value_bytes) {
    store::shuffle(values, value_bytes, planes);
    return std::vector<int>(planes, planes + 8);
  };
  CHECK(shuffled(1) == std::vector{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(shuffled(2) == std::vector{1, 3, 5, 7, 2, 4, 6, 8});
  CHECK(shuffled(4) == std::vector{1, 5, 2, 6, 3, 7, 4, 8});
  CHECK(shuffled(8) == std::vector{1, 2, 3, 4, 5, 6, 7, 8});
  // 0x0102 + 0x0304 = 0x0406; 0x0102 + 0x0406 = 0x0508. An odd byte is the upper one of its word.
  CHECK(store::fletcher32(std::span(values).first(4)) == 0x05080406);
  CHECK(store::fletcher32(std::span(values).first(3)) == 0x05040402);
}

TEST_CASE("a chunk is unpacked to what was packed, and a damaged one is not") {
  for (const std::size_t value_bytes : {1, 2, 4, 8}) {
    for (const bool shuffled : {false, true}) {
      CAPTURE(value_bytes);
      std::vector<std::uint8_t> values(1000 * value_bytes);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::uint8_t>(i * i / 7);
      }
      std::vector<std::uint8_t> packed = store::pack_chunk(values, value_bytes, shuffled);
      const auto unpacks_to = [&](std::size_t bytes) {
        std::vector<std::uint8_t> unpacked(bytes);
        const bool done = store::unpack_chunk(packed, value_bytes, shuffled, unpacked);
        return done && unpacked == values;
      };
      CHECK(unpacks_to(values.size()));
      CHECK_FALSE(unpacks_to(values.size() - value_bytes));
      CHECK_FALSE(unpacks_to(values.size() + value_bytes));
      for (std::size_t at = 0; at < packed.size(); at += 5) {
        packed[at] ^= 1;
        CHECK_FALSE(unpacks_to(values.size()));
        packed[at] ^= 1;
      }
      packed.resize(3);
      CHECK_FALSE(unpacks_to(values.size()));
    }
  }
}

// HDF5's own reading is what counts: of chunks that are stored, of one that is not, and of a part
// of several.
TEST_CASE("chunks are read as HDF5 reads them, and left to it where they are packed otherwise") {
  constexpr std::size_t kCount = 2 * store::kChunkValues + 1000;
  const test::TemporaryFolder folder;
  const hdf5::Quiet quiet;
  const hdf5::Handle file = hdf5::create_file((folder / "a.h5").string());
  const auto type = hdf5::value_type<std::uint32_t>();
  for (const bool shuffled : {false, true}) {
    const std::string name = shuffled ? "shuffled" : "plain";
    const std::uint32_t fill = 7;
    {
      const hdf5::Handle made = hdf5::create_values(file, name, type, kCount, &fill, shuffled);
      for (const std::uint32_t chunk : {0, 2}) {
        std::vector<std::uint32_t> values(store::kChunkValues);
        for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * i + chunk;
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(values.data());
        hdf5::write_chunk(made, name, chunk,
                          store::pack_chunk({bytes, values.size() * sizeof values[0]},
                                            sizeof values[0], shuffled));
      }
    }
    hdf5::Source source = hdf5::open_values(file, name, type);
    std::vector<std::uint32_t> all(kCount);
    REQUIRE(H5Dread(source.dataset, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0);
    CHECK(source.chunks.chunk(0).size() == store::kChunkValues * sizeof all[0]);
    CHECK(source.chunks.chunk(1).empty());  // it is not stored
    CHECK(source.chunks.chunk(2).size() == store::kChunkValues * sizeof all[0]);
    CHECK(source.chunks.chunk(3).empty());
    CHECK(hdf5::read_column<std::uint32_t>(file, name) == all);
    for (const std::size_t first : {std::size_t{5}, store::kChunkValues - 1, kCount - 3}) {
      const std::size_t count = std::min(kCount - first, store::kChunkValues + 2);
      std::vector<std::uint32_t> part(count);
      hdf5::read_part(source, name, type, first, count, part.data());
      CHECK(std::equal(part.begin(), part.end(), &all[first]));
    }
  }
  // In one piece, as somebody else may write it.
  const hsize_t size = kCount;
  const hdf5::Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
  const hdf5::Handle other(
      H5Dcreate2(file, "other", type.file, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
      "other");
  const std::vector<std::uint32_t> values(kCount, 3);
  REQUIRE(H5Dwrite(other, type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  CHECK(hdf5::ChunkReader(other, kCount, sizeof(std::uint32_t)).chunk(0).empty());
  CHECK(hdf5::read_column<std::uint32_t>(file, "other") == values);
}

TEST_CASE("without the rows that grow with the events the rest of a run is the same") {
  const test::TemporaryFolder folder;
  Run run = RandomRun(6).make({20, 20});
  save_store(run, folder / "a.h5");
  const Run facts = load_store(folder / "a.h5", Rows::of_run);
  store::for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if (!store::kGrows<Row>) return;
    CHECK((facts.*rows).empty());
    (run.*rows).clear();
  });
  check_same(run, facts);
}

TEST_CASE("a store that is not wanted is not read") {
  const test::TemporaryFolder folder;
  const Run run = RandomRun(5).make({20, 20});
  save_store(run, folder / "a.h5");
  for (const bool wanted : {false, true}) {
    const std::optional<Run> loaded = load_store(
        folder / "a.h5", Rows::all, [&](const Run& head, const std::string& tool_version) {
          CHECK(head.store_id == run.store_id);
          CHECK(head.settled == run.settled);
          check_same(head.sources, run.sources);
          CHECK(head.messages.empty());
          CHECK(tool_version == log::kToolVersion);
          return wanted;
        });
    REQUIRE(loaded.has_value() == wanted);
    if (loaded) check_same(*loaded, run);
  }
}

TEST_CASE("a store is known by its attribute, whatever else is wrong with it") {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a.h5";
  CHECK_FALSE(is_store(path));
  write_bytes(path, "a,b\n1,2\n");
  CHECK_FALSE(is_store(path));
  { const hdf5::Handle file = hdf5::create_file(path.string()); }
  CHECK_FALSE(is_store(path));
  {
    const hdf5::Handle file = hdf5::create_file(path.string());
    hdf5::write_attribute(file, "uctrace_schema", std::uint32_t{1});
  }
  CHECK(is_store(path));
}

TEST_CASE("a pipe in the place of a store is neither waited for nor replaced") {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a.h5";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_FALSE(is_store(path));
  CHECK(message_of_load(path).find("it is not a regular file") != std::string::npos);
  CHECK_THROWS_WITH_AS(save_store(Run{}, path), doctest::Contains("no regular file"), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("interned texts") {
  Texts texts;
  CHECK(texts.intern("") == kNoText);
  CHECK(texts.intern("a") == 1);
  CHECK(texts.intern("b") == 2);
  CHECK(texts.intern("a") == 1);
  CHECK(texts[2] == "b");
  CHECK(std::string(name_of(Link::unattributed)) == "unattributed");
  CHECK(std::string(name_of(static_cast<Link>(5))) == "?");
}

TEST_CASE("a store that cannot be written leaves nothing behind") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(save_store(Run{}, folder / "none/a.h5"),
                       doctest::Contains("cannot write the store"), Error);
  fs::create_directory(folder / "taken");
  CHECK_THROWS_WITH_AS(save_store(Run{}, folder / "taken"), doctest::Contains("directory"), Error);
  CHECK(folder.files() == 1);
}

// As by merges beside this one. HDF5 refuses a file that is replaced while it opens it.
TEST_CASE("a store that is replaced while it is opened is opened all the same") {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "a.h5", other = folder / "b.h5";
  Run run;
  run.info_json = "{}";
  save_store(run, path);
  const std::string bytes = bytes_of(path);
  std::atomic<bool> over = false;
  std::atomic<int> loads = 0;
  std::thread replacer([&] {  // once for each
    while (!over) {
      const int at = loads;
      write_bytes(other, bytes);
      fs::rename(other, path);
      while (loads == at && !over) std::this_thread::yield();
    }
  });
  while (++loads <= 100) CHECK(message_of_load(path) == "no error");
  over = true;
  replacer.join();
}

TEST_CASE("an error is one line that says what, why and what to do") {
  const Error error({"cannot open x", "it is\nmissing", "make it"});
  CHECK(error.message() == "cannot open x: it is missing; make it.");
  CHECK(std::string(error.what()) == error.message());
}

}  // namespace uctrace
