#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "tests/unit/log_builder.hpp"
#include "tests/unit/touch_everything.hpp"

namespace uctrace::log::test {
TEST_CASE("damage is counted by kind, and the rest is read") {
  LogBuilder log = one_chunk_of(4);
  const std::size_t last = log.last_record();
  const std::size_t first_chunk = log.chunk_at();
  log.chunk(Stream::events, 0, 2).add(completion(5), RecordType::uct_completion);
  const std::size_t second_chunk = log.chunk_at();
  std::vector<std::byte> bytes = log.bytes();
  Damage expected;
  std::uint64_t events = 5;

  SUBCASE("nothing") {}
  SUBCASE("cut within a chunk") {
    bytes.resize(second_chunk + 128);
    expected.truncated_bytes = kMinChunkBytes - 128;
  }
  SUBCASE("cut before the second chunk") {
    bytes.resize(second_chunk);
    expected.truncated_bytes = kMinChunkBytes;
    expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("bad magic, found again behind") {
    patch(bytes, first_chunk, std::uint32_t{7});
    expected.bad_chunks = expected.resyncs = expected.missing_chunks = 1;
    expected.skipped_bytes = kMinChunkBytes;
    expected.missing_events = 4;
    events = 1;
  }
  SUBCASE("bad size of a chunk") {
    patch(bytes, second_chunk + 4, std::uint32_t{kMinChunkBytes + 8});
    expected.bad_chunks = expected.missing_events = 1;
    expected.skipped_bytes = kMinChunkBytes;
    events = 4;
  }
  SUBCASE("bad lane") {
    patch(bytes, second_chunk + 8, std::uint16_t{kMaxLanes});
    expected.bad_chunks = expected.missing_events = 1;
    expected.skipped_bytes = kMinChunkBytes;
    events = 4;
  }
  SUBCASE("the same sequence number twice") {
    patch(bytes, second_chunk + offsetof(ChunkHeader, sequence), std::uint32_t{1});
    expected.bad_chunks = expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("a gap in the sequence") {
    patch(bytes, second_chunk + offsetof(ChunkHeader, sequence), std::uint32_t{5});
    expected.missing_chunks = 3;
  }
  SUBCASE("unknown type of record") {
    patch(bytes, last, std::uint8_t{200});
    expected.bad_records = expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("a definition among events") {
    patch(bytes, last, static_cast<std::uint8_t>(RecordType::uct_endpoint_destroy));
    expected.bad_records = expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("size of a record is zero") {
    patch(bytes, last + 1, std::uint8_t{0});
    expected.unreadable_tails = expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("unpublished record") {
    patch(bytes, last, std::uint64_t{0});
    expected.unpublished_records = expected.missing_events = 1;
    events = 4;
  }
  SUBCASE("more than was counted") {
    patch(bytes,
          kLanesOffset + offsetof(LaneInfo, counters) + offsetof(LaneCounters, recorded_events),
          std::uint64_t{3});
    expected.surplus_events = 2;
  }
  const LogFile file = LogFile::from_bytes(bytes, "test.ulog");
  CHECK(file.damage() == expected);
  CHECK(file.event_count() == events);
  CHECK(file.complete() == !expected.any());
  CHECK(file.damage().sentences().empty() == !expected.any());
}

namespace {

// A log with lanes in a table, whose first record is of the lane behind those of the page.
LogBuilder log_with_table() {
  LogBuilder log;
  log.chunk(Stream::events, kPageLanes, 1);
  log.add(completion(1), RecordType::uct_completion);
  return log;
}

// The bytes of the log with its table put behind everything else.
std::vector<std::byte> with_table(LogBuilder log, std::uint64_t at) {
  const LaneInfo lane = log.lanes[kPageLanes];
  const std::uint32_t used = kPageLanes + 1;
  log.lanes.resize(kPageLanes);
  std::vector<std::byte> bytes = log.bytes();
  patch(bytes, offsetof(ProcessPage, lanes_used), used);
  patch(bytes, offsetof(ProcessPage, lane_tables), at);
  const std::size_t place = bytes.size();
  bytes.resize(place + kLaneTableBytes);
  patch(bytes, place, LaneTableHeader{kLanesMagic, kLaneTableBytes, kPageLanes, 0, {}});
  patch(bytes, place + sizeof(LaneTableHeader), lane);
  return bytes;
}

}  // namespace

TEST_CASE("lanes behind those of the page are in a table, and a wrong place of it is damage") {
  constexpr std::uint64_t kPlace = kProcessPageBytes + kMinChunkBytes;
  const LogFile good = LogFile::from_bytes(with_table(log_with_table(), kPlace), "test.ulog");
  CHECK_FALSE(good.damage().any());
  CHECK(good.lanes().size() == kPageLanes + 1);
  CHECK(good.lanes().back().counters.recorded_events == 1);
  for (const std::uint64_t at : {std::uint64_t{0}, 100 * kPlace, UINT64_MAX, UINT64_MAX - 600}) {
    CAPTURE(at);
    const LogFile bad = LogFile::from_bytes(with_table(log_with_table(), at), "test.ulog");
    CHECK(bad.damage().bad_chunks == 1);
    CHECK(bad.damage().surplus_events == 1);
    CHECK(bad.lanes().back().counters.recorded_events == 0);
  }
}

TEST_CASE("a record that does not fit its own counts is left out") {
  const auto bad_records = [](auto change) {
    LogBuilder log;
    log.chunk(Stream::events, 0, 1);
    UctOperation operation{};
    operation.op = UctOp::am_bcopy;
    change(operation);
    log.add(operation, RecordType::uct_operation, {1, 2});
    return log.read().damage().bad_records;
  };
  CHECK(bad_records([](UctOperation&) {}) == 0);
  CHECK(bad_records([](UctOperation& r) { r.op = UctOp::kCount; }) == 1);
  CHECK(bad_records([](UctOperation& r) { r.op = UctOp::none; }) == 1);
  CHECK(bad_records([](UctOperation& r) { r.flags = UctOperation::kHasId | 2 << 4; }) == 1);
  CHECK(bad_records([](UctOperation& r) { r.flags = 7; }) == 1);
  CHECK(bad_records([](UctOperation& r) { r.source = 9; }) == 1);
  CHECK(bad_records([](UctOperation& r) { r.source = 9 << 4; }) == 1);
}

TEST_CASE("a communicator's runs cannot leave the ranks") {
  const auto is_valid = [](RankRun run) {
    LogBuilder log;
    log.chunk(Stream::definitions, 0, 1);
    Communicator comm{};
    comm.head.b = 1;
    std::vector<std::uint64_t> words(2);
    std::memcpy(words.data(), &run, sizeof run);
    return log.add(comm, RecordType::communicator, words).read().damage().bad_records == 0;
  };
  CHECK(is_valid({4, -1, 5, 0}));
  CHECK(is_valid({0, 0, UINT32_MAX, 0}));
  CHECK_FALSE(is_valid({4, -1, 6, 0}));
  CHECK_FALSE(is_valid({0, 1, UINT32_MAX, 0}));
  CHECK_FALSE(is_valid({INT32_MAX, INT32_MAX, UINT32_MAX, 0}));
  CHECK_FALSE(is_valid({-1, 1, 1, 0}));
  CHECK_FALSE(is_valid({1, 1, 0, 0}));
}

TEST_CASE("mutated logs never crash") {
  LogBuilder log = full_log();
  const std::vector<std::byte> original = log.bytes();
  const std::size_t events = kProcessPageBytes, definitions = events + kMinChunkBytes;
  std::mt19937_64 random(20240607);
  const auto interesting = [&]() -> std::size_t {
    switch (random() % 8) {
      case 0:
        return random() % 1024;
      case 1:
        return kLanesOffset + random() % 256;
      case 2:
        return random() % original.size();
      case 3:
      case 4:
      case 5:
        return events + random() % 512;
      default:
        return definitions + random() % 640;
    }
  };
  std::size_t refused = 0, damaged = 0;
  std::vector<std::byte> bytes = original;
  for (int round = 0; round < 20000; ++round) {
    bytes = original;
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) {
      const std::size_t at = interesting();
      switch (random() % 4) {
        case 0:
          bytes[at] ^= static_cast<std::byte>(1u << random() % 8);
          break;
        case 1:
          bytes[at] = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random());
          break;
        case 2: {
          const std::size_t from = interesting();
          const std::size_t length =
              std::min<std::size_t>(1 + random() % 96, original.size() - std::max(at, from));
          std::copy_n(original.begin() + static_cast<std::ptrdiff_t>(from), length,
                      bytes.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        }
        default:
          break;
      }
    }
    if (random() % 8 == 0) bytes.resize(interesting());
    try {
      const LogFile file = LogFile::from_bytes(bytes, "mutated");
      touch_everything(file);
      damaged += file.damage().any();
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(damaged > 1000);
}

}  // namespace uctrace::log::test
