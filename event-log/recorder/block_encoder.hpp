// Packs records of one chunk into blocks, in memory that it is given. Private to event-log/.
//
// Use:   encoder.begin(chunk, at, block, room);
//        while (encoder.add(record)) ++record;      // false: it belongs into the next block
//        bytes = encoder.end();
// What it costs: docs/performance.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/codec.hpp"

namespace uctrace::log {

// The largest block. A full chunk of kMinChunkBytes mostly takes a fifth of it.
inline constexpr std::size_t kMostBlockBytes = 64 * 1024;

class BlockEncoder {
 public:
  // A block of at most `room` bytes at `block`, for the records of `chunk` from offset `first` on.
  // `room` is a multiple of kBlockAlignment, and `block` has kMostBlockBytes.
  void begin(const ChunkHeader& chunk, std::uint32_t first, std::uint64_t* block, std::size_t room);
  // False: it may not fit; nothing was done.
  bool add(const std::uint64_t* record);
  // Seals the block and returns its size.
  std::size_t end(std::uint8_t flags = 0);

 private:
  std::uint8_t* put(const void* from, std::size_t bytes);
  std::size_t slot_of(std::uint32_t kind);
  std::uint64_t encode_words(const std::uint64_t* record, std::size_t words, CodecSlot& slot,
                             std::uint8_t*& to);
  void note(const std::uint64_t* record, std::size_t words);

  std::uint64_t* block_ = nullptr;
  BlockHeader header_;
  std::uint8_t* at_ = nullptr;
  std::uint8_t* end_ = nullptr;
  std::uint64_t tick_ = 0;
  std::uint32_t kinds_[kSlots];  // 0 = free
  CodecSlot slots_[kSlots];
};

}  // namespace uctrace::log
