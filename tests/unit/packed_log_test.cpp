// Logs of blocks and chunks: each record once, whichever part of a chunk is packed.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "event-log/reader/reader_files.hpp"
#include "event-log/recorder/block_encoder.hpp"
#include "tests/unit/log_builder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::log::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kEvents = 30;

// A chunk of kEvents completions with the ticks 1, 2, ...
LogBuilder builder(std::uint32_t sequence = 1) {
  LogBuilder log;
  log.chunk(Stream::events, 0, sequence);
  for (std::uint64_t i = 1; i <= kEvents; ++i) log.add(completion(i), RecordType::uct_completion);
  return log;
}

// A log without blocks, whose counters are those of builder().
Bytes page_of(LogBuilder log) {
  Bytes bytes = log.bytes();
  bytes.resize(kProcessPageBytes);
  patch(bytes, offsetof(ProcessPage, allocated_bytes), std::uint64_t{kProcessPageBytes});
  return bytes;
}

Bytes chunk_of(LogBuilder log) {
  const Bytes bytes = log.bytes();
  return Bytes(bytes.begin() + kProcessPageBytes, bytes.end());
}

// Appends a block of the completions [first, end) of the chunk.
void append_block(Bytes& log, const Bytes& chunk, std::uint64_t first, std::uint64_t end,
                  std::uint8_t flags = 0) {
  static BlockEncoder encoder;
  std::vector<std::uint64_t> words(chunk.size() / 8), block(kMostBlockBytes / 8);
  std::memcpy(words.data(), chunk.data(), chunk.size());
  ChunkHeader header;
  std::memcpy(&header, chunk.data(), sizeof header);
  const auto word_of = [](std::uint64_t i) {
    return (sizeof(ChunkHeader) + (i - 1) * sizeof(UctCompletion)) / 8;
  };
  encoder.begin(header, static_cast<std::uint32_t>(word_of(first) * 8), block.data(),
                kMostBlockBytes);
  for (std::uint64_t i = first; i < end; ++i) REQUIRE(encoder.add(&words[word_of(i)]));
  const std::size_t bytes = encoder.end(flags);
  const auto* from = reinterpret_cast<const std::byte*>(block.data());
  log.insert(log.end(), from, from + bytes);
  patch(log, offsetof(ProcessPage, allocated_bytes), std::uint64_t{log.size()});
}

std::vector<std::uint64_t> ticks_of(const LogFile& log) {
  std::vector<std::uint64_t> ticks;
  log.for_each_record(Stream::events, [&](std::uint16_t, const UctCompletionView& view) {
    ticks.push_back(view.r.tick);
  });
  return ticks;
}

std::vector<std::uint64_t> all_ticks() {
  std::vector<std::uint64_t> ticks(kEvents);
  for (std::uint64_t i = 0; i < kEvents; ++i) ticks[i] = i + 1;
  return ticks;
}

LogFile read(const Bytes& log, const Bytes& live = {}) {
  return LogFile::from_bytes(log, "test.ulog", live);
}

}  // namespace

TEST_CASE("what a process defined is read without its events") {
  LogBuilder definitions;
  definitions.chunk(Stream::definitions, 0, 1);
  Text text{};
  text.head.a = static_cast<std::uint16_t>(TextKind::mpi_library);
  text.head.b = 4;
  definitions.add(text, RecordType::text, words_of("mpi!"));
  const Bytes events = chunk_of(builder());
  Bytes log = page_of(builder());
  append_block(log, events, 1, 10);
  append_block(log, chunk_of(definitions), 1, 2);
  append_block(log, events, 10, kEvents + 1);
  const uctrace::test::TemporaryFolder folder;
  const auto path = folder / "a.ulog";
  const auto texts_of = [&](std::size_t bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(bytes));
    const LogFile file = LogFile::open_definitions(path);
    CHECK(file.event_count() == 0);
    std::vector<std::string> texts;
    file.for_each_record(Stream::definitions, [&](std::uint16_t, const TextView& view) {
      texts.emplace_back(view.text);
    });
    return texts;
  };
  CHECK(texts_of(log.size()) == std::vector<std::string>{"mpi!"});
  CHECK(texts_of(log.size() - 64) == std::vector<std::string>{"mpi!"});  // an event block is cut
  CHECK(texts_of(kProcessPageBytes).empty());
  CHECK(LogFile::open(path).damage().any());
}

// Thousands of logs are held at once.
TEST_CASE("unused lanes of a page take no memory") {
  const uctrace::test::TemporaryFolder folder;
  const auto path = folder / "a.ulog";
  Bytes log = page_of(builder());
  append_block(log, chunk_of(builder()), 1, kEvents + 1);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(log.size()));
  const LogFile file = LogFile::open(path);
  CHECK(file.complete());
  CHECK(ticks_of(file) == all_ticks());
  CHECK(file.size_bytes() == log.size());
  CHECK(file.memory_bytes() < kProcessPageBytes / 4);
  CHECK(file.same_bytes(LogFile::open(path)));
  log[kLanesOffset + 3 * sizeof(LaneInfo) + 5] = std::byte{1};
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(log.size()));
  CHECK_FALSE(file.same_bytes(LogFile::open(path)));
}

TEST_CASE("a record that is in a block and in its chunk counts once") {
  const Bytes chunk = chunk_of(builder());
  for (std::uint64_t packed = 0; packed <= kEvents; packed += 10) {
    Bytes log = page_of(builder());
    if (packed > 0) append_block(log, chunk, 1, packed + 1);
    const LogFile file = read(log, chunk);
    CHECK(ticks_of(file) == all_ticks());
    CHECK(file.complete());
  }
}

TEST_CASE("blocks of a chunk are joined in the order of its records") {
  const Bytes chunk = chunk_of(builder());
  Bytes log = page_of(builder());
  append_block(log, chunk, 21, kEvents + 1);
  append_block(log, chunk, 1, 11);
  append_block(log, chunk, 11, 21);
  CHECK(ticks_of(read(log)) == all_ticks());
  CHECK(read(log).complete());

  append_block(log, chunk, 11, 21);
  Damage expected;
  expected.bad_chunks = 1;
  CHECK(read(log).damage() == expected);
  CHECK(ticks_of(read(log)) == all_ticks());
}

TEST_CASE("a block that is missing, damaged or unfinished is damage") {
  const Bytes chunk = chunk_of(builder());
  Bytes log = page_of(builder());
  Damage expected;
  SUBCASE("missing within the chunk") {
    append_block(log, chunk, 1, 11);
    append_block(log, chunk, 21, kEvents + 1);
    expected.missing_chunks = 1;
    expected.missing_events = 10;
  }
  SUBCASE("missing at its beginning") {
    append_block(log, chunk, 21, kEvents + 1);
    expected.missing_chunks = 1;
    expected.missing_events = 20;
  }
  SUBCASE("the chunk before it is missing") {
    append_block(log, chunk_of(builder(2)), 1, kEvents + 1);
    expected.missing_chunks = 1;
  }
  SUBCASE("damaged") {
    append_block(log, chunk, 1, 11);
    const std::size_t second = log.size();
    append_block(log, chunk, 11, 21);
    const std::size_t third = log.size();
    append_block(log, chunk, 21, kEvents + 1);
    log[second + sizeof(BlockHeader) + 5] ^= std::byte{1};
    expected.bad_chunks = expected.resyncs = expected.missing_chunks = 1;
    expected.skipped_bytes = third - second;
    expected.missing_events = 10;
  }
  SUBCASE("a record was begun behind it") {
    append_block(log, chunk, 1, kEvents + 1);
    append_block(log, chunk, kEvents + 1, kEvents + 1, BlockHeader::kUnfinished);
    expected.unpublished_records = 1;
  }
  CHECK(read(log).damage() == expected);
}

TEST_CASE("what a living process was writing when it was read is no damage") {
  const Bytes chunk = chunk_of(builder());
  Bytes log = page_of(builder());
  patch(log, offsetof(ProcessPage, closed), std::uint8_t{0});
  append_block(log, chunk, 1, 11);
  const std::uint64_t written = log.size();
  append_block(log, chunk, 11, kEvents + 1);
  patch(log, offsetof(ProcessPage, allocated_bytes), written);
  log.resize(log.size() - 8);  // half of it was there
  const LogFile file = read(log, chunk);
  CHECK_FALSE(file.damage().any());
  CHECK(ticks_of(file) == all_ticks());
}

TEST_CASE("a chunk that was being made is no damage, one that lost its magic is") {
  const Bytes chunk = chunk_of(builder());
  Bytes live = chunk;
  live.resize(2 * kMinChunkBytes);
  ChunkHeader unmade{};
  unmade.bytes = kMinChunkBytes;
  unmade.place = 1;
  unmade.anchor = {1, 2, 3};
  patch(live, kMinChunkBytes, unmade);
  for (const std::uint8_t closed : {0, 1}) {
    Bytes log = page_of(builder());
    patch(log, offsetof(ProcessPage, closed), closed);
    append_block(log, chunk, 1, 11);
    const LogFile file = read(log, live);
    CHECK_FALSE(file.damage().any());
    CHECK(ticks_of(file) == all_ticks());
    Bytes broken = live;
    patch(broken, 0, std::uint32_t{0});
    CHECK(read(log, broken).damage().bad_chunks == 1);
  }
}

// The chunk file of a process that continues, one step at each read.
class MovingFile {
 public:
  using Step = void (*)(Bytes&);
  MovingFile(std::size_t chunks, Step before_read, Step after_read)
      : bytes_(chunks * kMinChunkBytes), before_read_(before_read), after_read_(after_read) {
    for (std::size_t at = 0; at < bytes_.size(); at += kMinChunkBytes) {
      patch(bytes_, at + offsetof(ChunkHeader, sequence), std::uint32_t{1});
    }
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<Extent> data(std::size_t from) const { return {{from, bytes_.size()}}; }
  std::size_t read(void* to, std::size_t bytes, std::size_t offset) const {
    const Step before = std::exchange(before_read_, nullptr);
    if (before != nullptr) before(bytes_);
    std::memcpy(to, bytes_.data() + offset, bytes);
    if (before == nullptr) return bytes;
    after_read_(bytes_);
    return bytes;
  }

 private:
  mutable Bytes bytes_;
  mutable Step before_read_;
  Step after_read_;
};

TEST_CASE("what a file of chunks lacks that moves while it is read") {
  const auto nothing = [](Bytes&) {};
  const auto grow = [](Bytes& bytes) { bytes.resize(bytes.size() + kMinChunkBytes); };
  const auto take = [](Bytes& bytes) {
    patch(bytes, kMinChunkBytes + offsetof(ChunkHeader, sequence), std::uint32_t{2});
  };
  const auto sequence = [](const FileWords& live, std::size_t chunk) {
    ChunkHeader header;
    std::memcpy(&header, live.from(chunk * kMinChunkBytes).data(), sizeof header);
    return header.sequence;
  };
  const FileWords still = read_chunks(MovingFile(2, nothing, nothing), "test");
  CHECK_FALSE(still.changed);
  CHECK(sequence(still, 1) == 1);
  const FileWords taken_before = read_chunks(MovingFile(2, take, nothing), "test");
  CHECK_FALSE(taken_before.changed);
  CHECK(sequence(taken_before, 1) == 2);
  const FileWords taken_after = read_chunks(MovingFile(2, nothing, take), "test");
  CHECK(taken_after.changed);
  CHECK(sequence(taken_after, 0) == 1);
  CHECK(sequence(taken_after, 1) == 0);
  // The new chunk lies behind the part already read, and the next one may lie before it.
  CHECK(read_chunks(MovingFile(2, grow, nothing), "test").changed);
  CHECK(read_chunks(MovingFile(2, nothing, grow), "test").changed);
}

TEST_CASE("a file of chunks that is needed and not there is missed") {
  Bytes log = page_of(builder());
  patch(log, offsetof(ProcessPage, live_bytes), std::uint64_t{kMinChunkBytes});
  Damage expected;
  expected.truncated_bytes = kMinChunkBytes;
  expected.missing_events = kEvents;
  CHECK(read(log).damage() == expected);
}

TEST_CASE("events that were overwritten are counted and not missed") {
  const Bytes chunk = chunk_of(builder(5));
  LogBuilder counted = builder(5);
  counted.lanes[0].counters.overwritten[0] = 20;
  counted.lanes[0].counters.overwritten_until_tick = 20;
  counted.page.max_event_bytes = 1 << 20;
  Bytes log = page_of(counted);
  append_block(log, chunk, 21, kEvents + 1);
  const LogFile file = read(log);
  CHECK_FALSE(file.damage().any());
  CHECK(file.overwritten_events() == 20);
  CHECK(file.window_start_tick() == 20);
  CHECK(file.event_count() == 10);
}

TEST_CASE("a gap holds nothing") {
  const Bytes chunk = chunk_of(builder());
  Bytes log = page_of(builder());
  append_block(log, chunk, 1, 11);
  const GapHeader gap{kGapMagic, 2 * kBlockAlignment};
  const std::size_t at = log.size();
  log.insert(log.end(), gap.bytes, std::byte{0x55});
  patch(log, at, gap);
  append_block(log, chunk, 11, kEvents + 1);
  CHECK(read(log).complete());
  CHECK(ticks_of(read(log)) == all_ticks());
}

TEST_CASE("holes of a file hold nothing, and take no memory") {
  const Bytes chunk = chunk_of(builder());
  Bytes log = page_of(builder());
  append_block(log, chunk, 1, kEvents + 1);
  log.resize((log.size() + 4095) / 4096 * 4096);
  const std::string path = "/tmp/uctrace-holes-" + std::to_string(getpid());
  constexpr std::size_t kSize = std::size_t{1} << 40;
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(log.size()));
  }
  std::filesystem::resize_file(path, kSize);
  {
    InputFile file(path);
    const std::vector<Extent> data = file.data(kProcessPageBytes);
    REQUIRE(data.size() == 1);
    CHECK(data[0] == Extent{kProcessPageBytes, log.size()});
    std::uint64_t word = 0;  // a damaged file may name places beyond any file
    for (const std::size_t at : {SIZE_MAX, SIZE_MAX - 7, std::size_t{1} << 63}) {
      CHECK(file.read(&word, sizeof word, at) == 0);
    }
  }
  const LogFile whole = LogFile::open(path);
  CHECK(ticks_of(whole) == all_ticks());
  CHECK_FALSE(whole.damage().any());
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(kSize - 4096));
    file << "something";
  }
  const LogFile damaged = LogFile::open(path);
  std::filesystem::remove(path);
  CHECK(ticks_of(damaged) == all_ticks());
  CHECK(damaged.damage().bad_chunks == 1);
  CHECK(damaged.damage().skipped_bytes == 4096);
}

TEST_CASE("a chunk that goes on in a hole ends there") {
  LogBuilder log = builder();
  log.chunk(Stream::events, 1, 1).add(completion(7), RecordType::uct_completion);
  Bytes bytes = log.bytes();
  const std::string path = "/tmp/uctrace-holes-" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary).close();
  std::filesystem::resize_file(path, bytes.size() + (1 << 20));
  {
    // Of each chunk the first page alone.
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::size_t at, std::size_t count) {
      file.seekp(static_cast<std::streamoff>(at));
      file.write(reinterpret_cast<const char*>(&bytes[at]), static_cast<std::streamsize>(count));
    };
    put(0, 16384);
    put(kProcessPageBytes, 4096);
    put(kProcessPageBytes + kMinChunkBytes, 4096);
  }
  const LogFile file = LogFile::open(path);
  std::filesystem::remove(path);
  CHECK_FALSE(file.damage().any());
  CHECK(file.event_count() == kEvents + 1);
}

}  // namespace uctrace::log::test
