// In which order the chunks of a thread may be packed: as it filled them. Private to event-log/.
//
// Who packs looks at one place of the pool after the other, while threads go on. A thread may
// leave the chunk in a place that was looked at before, and go on in one that was not: the chunk
// found then must not be packed before the one that was missed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

class ChunkTurns {
 public:
  // Whether the turn of this chunk has come: it is the next of its lane and stream, or one whose
  // turn came before. Chunks count from 1. Else it is to be left for the next look.
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
