#include "tests/fuzz/log_script.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "event-log/recorder/block_encoder.hpp"
#include "tests/fuzz/log_script_steps.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::fuzz {
namespace {

using log::RecordType;
using log::Stream;

// A log in parts, assembled once at the end.
class LogWriter {
 public:
  LogWriter(std::size_t number, const LogLimits& limits)
      : limits_(limits), page_(log::test::LogBuilder().page) {
    page_.pid += static_cast<std::uint32_t>(number);
    page_.world_rank = static_cast<std::int32_t>(number);
    page_.time_namespace = number / 2;  // two of them have a clock together
  }

  void chunk(std::size_t choice) {
    if (chunks_.size() >= limits_.chunks) return;
    log::ChunkHeader header{};
    header.magic = log::kChunkMagic;
    header.bytes = log::kMinChunkBytes;
    header.stream = choice % 2 == 0 ? Stream::events : Stream::definitions;
    header.lane = static_cast<std::uint16_t>(choice / 2 % kLanes);
    header.sequence = ++sequences_[choice % (2 * kLanes)];
    chunks_.push_back({.header = header, .words = {}, .patches = {}});
  }

  void record(const std::vector<std::uint64_t>& words) {
    if (chunks_.empty()) chunk(0);
    Chunk& chunk = chunks_.back();
    if (sizeof chunk.header + (chunk.words.size() + words.size()) * 8 > log::kMinChunkBytes) return;
    chunk.words.insert(chunk.words.end(), words.begin(), words.end());
    count(words, chunk.header);
  }

  void patch(bool of_chunk, std::size_t offset, std::vector<std::byte> bytes) {
    if (of_chunk && chunks_.empty()) return;
    (of_chunk ? chunks_.back().patches : page_patches_).push_back({offset, std::move(bytes)});
  }

  void pack() {
    if (!chunks_.empty()) chunks_.back().packed = true;
  }

  void cut(std::size_t bytes) { cut_ = bytes; }

  void lay_out(LogBytes& bytes) {
    bytes.assign(log::kProcessPageBytes, std::byte{});
    for (const Chunk& chunk : chunks_) {
      const std::size_t at = bytes.size();
      if (chunk.packed) {
        append_block(bytes, chunk);
      } else {
        append_chunk(bytes, chunk, limits_.trim && &chunk == &chunks_.back());
      }
      for (const Patch& patch : chunk.patches) put(bytes, at + patch.offset, patch.bytes);
      if (chunk.packed && !chunk.patches.empty()) seal(bytes, at);
    }
    page_.lanes_used = kLanes;
    page_.allocated_bytes = bytes.size();
    put(bytes, 0, &page_, sizeof page_);
    put(bytes, log::kLanesOffset, lanes_, sizeof lanes_);
    for (const Patch& patch : page_patches_) put(bytes, patch.offset, patch.bytes);
    bytes.resize(bytes.size() - std::min(cut_, bytes.size()));
  }

 private:
  static constexpr std::size_t kLanes = 4;
  struct Patch {
    std::size_t offset;
    std::vector<std::byte> bytes;
  };
  struct Chunk {
    log::ChunkHeader header;
    std::vector<std::uint64_t> words;
    std::vector<Patch> patches;
    bool packed = false;
  };

  static void append_chunk(LogBytes& bytes, const Chunk& chunk, bool trimmed) {
    const std::size_t at = bytes.size(), used = sizeof chunk.header + chunk.words.size() * 8;
    bytes.resize(at + (trimmed ? used : log::kMinChunkBytes));
    put(bytes, at, &chunk.header, sizeof chunk.header);
    put(bytes, at + sizeof chunk.header, chunk.words.data(), chunk.words.size() * 8);
  }

  // Up to a record that the job could not have made.
  static void append_block(LogBytes& bytes, const Chunk& chunk) {
    static log::BlockEncoder encoder;
    static std::uint64_t block[log::kMostBlockBytes / 8];
    encoder.begin(chunk.header, sizeof chunk.header, block, sizeof block);
    for (std::size_t at = 0; at < chunk.words.size();) {
      const std::size_t words = chunk.words[at] >> 8 & 0xff;
      if (words == 0 || at + words > chunk.words.size() || !encoder.add(&chunk.words[at])) break;
      at += words;
    }
    const std::size_t size = encoder.end(), at = bytes.size();
    bytes.resize(at + size);
    put(bytes, at, block, size);
  }

  // Gives a changed block the right checksum, so the code after the check is reached.
  static void seal(LogBytes& bytes, std::size_t at) {
    log::BlockHeader header;
    if (bytes.size() < at + sizeof header) return;
    std::memcpy(&header, &bytes[at], sizeof header);
    if (header.bytes < sizeof header || header.bytes % 8 != 0 || header.bytes > bytes.size() - at) {
      return;
    }
    std::vector<std::uint64_t> words(header.bytes / 8);
    std::memcpy(words.data(), &bytes[at], header.bytes);
    header.checksum = log::checksum_of(words.data(), words.size());
    put(bytes, at, &header, sizeof header);
  }

  // Counts as the process would have.
  void count(const std::vector<std::uint64_t>& words, const log::ChunkHeader& header) {
    if (words.empty() || header.stream != Stream::events) return;
    log::LaneCounters& counters = lanes_[header.lane].counters;
    ++counters.recorded_events;
    const auto type = static_cast<RecordType>(words[0] & 0xff);
    counters.uct_posted_ok += type == RecordType::uct_operation;
    counters.uct_arrivals += type == RecordType::uct_arrival;
    counters.ucp_operations += type == RecordType::ucp_operation;
    counters.mpi_calls += type == RecordType::mpi_call;
    counters.mpi_request_records += type == RecordType::mpi_requests;
  }

  static void put(LogBytes& bytes, std::size_t at, const std::vector<std::byte>& from) {
    put(bytes, at, from.data(), from.size());
  }
  static void put(LogBytes& bytes, std::size_t at, const void* from, std::size_t size) {
    if (at >= bytes.size() || size == 0) return;
    std::memcpy(&bytes[at], from, std::min(size, bytes.size() - at));
  }

  const LogLimits& limits_;
  log::ProcessPage page_;
  log::LaneInfo lanes_[kLanes]{};
  std::uint32_t sequences_[2 * kLanes]{};
  std::vector<Chunk> chunks_;
  std::vector<Patch> page_patches_;
  std::size_t cut_ = 0;
};

void do_step(Taker& taker, std::vector<LogWriter>& logs, const LogLimits& limits) {
  const auto step = static_cast<Step>(taker.number(1) % static_cast<std::size_t>(Step::kCount));
  switch (step) {
    case Step::next_log:
      if (logs.size() < limits.logs) logs.emplace_back(logs.size(), limits);
      return;
    case Step::chunk:
      return logs.back().chunk(taker.number(1));
    case Step::record: {
      std::vector<std::uint64_t> words(taker.number(1));
      taker.take(words.data(), words.size() * sizeof(std::uint64_t));
      return logs.back().record(words);
    }
    case Step::page_patch:
    case Step::chunk_patch: {
      const std::size_t offset = taker.number(2);
      std::vector<std::byte> bytes(taker.number(1));
      taker.take(bytes.data(), bytes.size());
      return logs.back().patch(step == Step::chunk_patch, offset, std::move(bytes));
    }
    case Step::cut:
      return logs.back().cut(taker.number(3));
    case Step::pack:
      return logs.back().pack();
    case Step::kCount:
      return;
  }
}

}  // namespace

std::span<const LogBytes> logs_of(Script script, const LogLimits& limits) {
  static std::vector<LogBytes> bytes;  // reused: making it costs as much as reading it
  std::vector<LogWriter> logs;
  logs.reserve(limits.logs);
  logs.emplace_back(0, limits);
  for (Taker taker(script); !taker.at_end();) do_step(taker, logs, limits);
  bytes.resize(limits.logs);
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i].lay_out(bytes[i]);
  return std::span(bytes).first(logs.size());
}

}  // namespace uctrace::fuzz
