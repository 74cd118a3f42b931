// Turns logs into what they would be if nothing had been packed: the records as their threads wrote
// them, in chunks behind the page. For tests that look at single records or change them.
//
//     unpack_log LOG...        each in place
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "event-log/reader/block_decoder.hpp"

namespace {

using namespace uctrace::log;
using Words = std::vector<std::uint64_t>;

constexpr std::size_t kPageWords = kProcessPageBytes / sizeof(std::uint64_t);

struct ChunkRecords {
  Anchor anchor;
  Words words;
};
using Chunks = std::map<std::tuple<Stream, std::uint16_t, std::uint32_t>, ChunkRecords>;

Words read_words(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  Words words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof words[0]);
  return words;
}

// Blocks of a chunk come in the order of its records.
bool unpack(std::span<const std::uint64_t> rest, Chunks& chunks) {
  while (!rest.empty()) {
    const BlockHeader* block = block_at(rest);
    if (block == nullptr) return false;
    ChunkRecords& chunk = chunks[{block->stream, block->lane, block->sequence}];
    const std::size_t before = chunk.words.size();
    chunk.anchor = block->anchor;
    chunk.words.resize(before + block->raw_bytes / sizeof(std::uint64_t));
    if (!decode_block(*block, std::span(chunk.words).subspan(before))) return false;
    rest = rest.subspan(block->bytes / sizeof(std::uint64_t));
  }
  return true;
}

void append(Words& log, const Chunks::value_type& entry) {
  const auto& [place, chunk] = entry;
  ChunkHeader header{};
  header.magic = kChunkMagic;
  header.bytes = static_cast<std::uint32_t>(
      std::bit_ceil(std::max(kMinChunkBytes, sizeof header + chunk.words.size() * 8)));
  std::tie(header.stream, header.lane, header.sequence) = place;
  header.anchor = chunk.anchor;
  const std::size_t at = log.size();
  log.resize(at + header.bytes / sizeof(std::uint64_t));
  std::memcpy(&log[at], &header, sizeof header);
  std::memcpy(&log[at + sizeof header / 8], chunk.words.data(), chunk.words.size() * 8);
}

bool unpack_log(const char* path) {
  Words log = read_words(path);
  Chunks chunks;
  if (log.size() < kPageWords || !unpack(std::span(log).subspan(kPageWords), chunks)) {
    std::fprintf(stderr, "%s: cannot be unpacked\n", path);
    return false;
  }
  log.resize(kPageWords);
  for (const auto& chunk : chunks) append(log, chunk);
  const std::uint64_t bytes = log.size() * sizeof log[0];
  std::memcpy(&log[offsetof(ProcessPage, allocated_bytes) / 8], &bytes, sizeof bytes);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(log.data()), static_cast<std::streamsize>(bytes));
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good = unpack_log(argv[i]) && good;
  return good ? 0 : 1;
}
