// Makes sure that the chunks of a thread are packed in the order in which it filled them. Private
// to event-log/.
//
// The packer scans the places of the pool while threads go on. A thread may leave a chunk in a
// place that was already scanned and go on in one that was not: the chunk found then must not be
// packed before the missed one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

class ChunkTurns {
 public:
  // Whether the turn of this chunk has come: it is the next of its lane and stream, or its turn
  // came before. Chunks count from 1. If not, leave it for the next scan.
  bool begin(std::uint16_t lane, Stream stream, std::uint32_t sequence) {
    std::uint32_t& newest = begun_[lane][static_cast<std::size_t>(stream) - 1];
    if (sequence > newest + 1) return false;
    newest = std::max(newest, sequence);
    return true;
  }

 private:
  std::uint32_t begun_[kMaxLanes][2];  // the newest chunk of a lane in each stream
};

}  // namespace uctrace::log
