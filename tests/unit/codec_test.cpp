// Packing of records: decoding restores the input, and invalid blocks are rejected.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "event-log/reader/block_decoder.hpp"
#include "event-log/recorder/block_encoder.hpp"

namespace uctrace::log::test {
namespace {

using Random = std::mt19937_64;
using Words = std::vector<std::uint64_t>;

std::uint64_t head_of(unsigned type, std::size_t words, unsigned a, std::uint64_t b) {
  return type | words << 8 | std::uint64_t{a} << 16 | b << 32;
}

// Values as they occur: the same again, counting up, near the last one, anything.
std::uint64_t some_word(Random& random, std::uint64_t before) {
  switch (random() % 6) {
    case 0:
      return before + 1;
    case 1:
      return before - random() % 300;
    case 2:
      return random() >> random() % 64;
    case 3:
      return ~std::uint64_t{0} - random() % 3;
    default:
      return before;
  }
}

// Records back to back, of `kinds` kinds: all types there are and ones that are not known, up to
// the longest.
Words some_records(Random& random, std::size_t count, std::size_t kinds) {
  std::vector<Words> newest(kinds);
  for (Words& record : newest) {
    const std::size_t words = random() % 8 == 0 ? 1 + random() % 255 : 1 + random() % 18;
    record.assign(words, 0);
    record[0] = head_of(1 + random() % 255, words, random() % 4, 0);
  }
  Words records;
  for (std::size_t i = 0; i < count; ++i) {
    Words& record = newest[random() % kinds];
    const std::uint64_t b = some_word(random, record[0] >> 32) & UINT32_MAX;
    record[0] = (record[0] & UINT32_MAX) | b << 32;
    for (std::size_t k = 1; k < record.size(); ++k) record[k] = some_word(random, record[k]);
    records.insert(records.end(), record.begin(), record.end());
  }
  return records;
}

ChunkHeader some_chunk() {
  ChunkHeader chunk{};
  chunk.lane = 7;
  chunk.stream = Stream::events;
  chunk.sequence = 3;
  chunk.anchor = {11, 12, 13};
  return chunk;
}

// The header as the plain reading of its records gives it.
BlockHeader plain_header(std::span<const std::uint64_t> records, std::uint32_t first) {
  BlockHeader header{};
  header.first = first;
  header.raw_bytes = static_cast<std::uint32_t>(records.size_bytes());
  for (std::size_t at = 0; at < records.size(); at += records[at] >> 8 & 0xff) {
    const auto type = static_cast<RecordType>(records[at] & 0xff);
    const std::size_t words = records[at] >> 8 & 0xff;
    ++header.records[static_cast<std::size_t>(drop_kind_of(type))];
    const TimeWords time = time_words_of(type);
    if (time.tick >= words) continue;
    std::uint64_t end = records[at + time.tick];
    if (time.duration != 0 && time.duration < words) end += records[at + time.duration];
    header.last_tick = std::max(header.last_tick, end);
  }
  return header;
}

struct Packed {
  std::vector<Words> blocks;
  std::size_t bytes = 0;
};

Packed pack(const Words& records, std::size_t room) {
  static BlockEncoder encoder;  // used again and again, as in the job
  Packed packed;
  for (std::size_t at = 0; at < records.size();) {
    Words block(kMostBlockBytes / 8, ~std::uint64_t{0});
    encoder.begin(some_chunk(), static_cast<std::uint32_t>(sizeof(ChunkHeader) + at * 8),
                  block.data(), room);
    const std::size_t first = at;
    while (at < records.size() && encoder.add(&records[at])) at += records[at] >> 8 & 0xff;
    REQUIRE(at > first);
    const std::size_t bytes = encoder.end();
    REQUIRE(bytes <= room);
    packed.bytes += bytes;
    block.resize(bytes / 8);
    packed.blocks.push_back(std::move(block));
  }
  return packed;
}

void check_round_trip(const Words& records, std::size_t room) {
  Words unpacked;
  for (const Words& block : pack(records, room).blocks) {
    const BlockHeader* header = block_at(block);
    REQUIRE(header != nullptr);
    const std::size_t at = unpacked.size(), words = header->raw_bytes / 8;
    const BlockHeader plain =
        plain_header(std::span(records).subspan(at, words),
                     static_cast<std::uint32_t>(sizeof(ChunkHeader) + at * 8));
    CHECK(header->first == plain.first);
    CHECK(std::equal(header->records, header->records + kDropKinds, plain.records));
    CHECK(header->last_tick == plain.last_tick);
    CHECK(header->anchor.realtime_ns == 13);
    CHECK((header->lane == 7 && header->sequence == 3));
    unpacked.resize(at + words);
    REQUIRE(decode_block(*header, std::span(unpacked).subspan(at)));
  }
  CHECK(unpacked == records);
}

// Seals a block whose bytes were changed, so that what lies behind the checksum is reached.
void seal(Words& block) {
  const std::uint64_t sum = checksum_of(block.data(), block.size());
  std::memcpy(&block[offsetof(BlockHeader, checksum) / 8], &sum, sizeof sum);
}

}  // namespace

TEST_CASE("records of all kinds come back from their blocks, however these are cut") {
  Random random(20261121);
  for (int round = 0; round < 300; ++round) {
    const std::size_t kinds =
        round % 3 == 0 ? 400 : 1 + random() % 24;  // more than there are slots
    const Words records = some_records(random, 1 + random() % 400, kinds);
    check_round_trip(records, kMostBlockBytes);
    check_round_trip(records, 4096);
  }
}

TEST_CASE("records that go on as they did take a byte each") {
  Words records;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto type = static_cast<unsigned>(RecordType::uct_completion);
    records.insert(records.end(), {head_of(type, 3, 0, 0), 5000, i + 1});
  }
  CHECK(pack(records, kMostBlockBytes).bytes <= sizeof(BlockHeader) + 1000 + 2 * kBlockAlignment);
}

TEST_CASE("a block with any bit changed is no block") {
  Random random(7);
  const Words good = pack(some_records(random, 40, 5), kMostBlockBytes).blocks.front();
  for (std::size_t bit = 0; bit < good.size() * 64; ++bit) {
    Words changed = good;
    changed[bit / 64] ^= std::uint64_t{1} << bit % 64;
    CHECK(block_at(changed) == nullptr);
  }
  CHECK(block_at(std::span(good).first(good.size() - 1)) == nullptr);
  CHECK(block_at({}) == nullptr);
}

TEST_CASE("a block that is sealed and wrong is refused or read within its bounds") {
  Random random(8);
  std::size_t refused = 0;
  const Words good = pack(some_records(random, 60, 6), kMostBlockBytes).blocks.front();
  for (int round = 0; round < 20000; ++round) {
    Words changed = good;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t bit = random() % (changed.size() * 64);
      changed[bit / 64] ^= std::uint64_t{1} << bit % 64;
    }
    seal(changed);
    const BlockHeader* header = block_at(changed);
    if (header == nullptr) continue;
    Words room(header->raw_bytes / 8 + 1, 0);
    refused += !decode_block(*header, std::span(room).first(header->raw_bytes / 8));
    CHECK(room.back() == 0);
  }
  CHECK(refused > 1000);
}

}  // namespace uctrace::log::test
