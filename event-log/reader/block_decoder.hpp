// Unpacks the blocks of a log, and trusts nothing in them. For offline code.
#pragma once

#include <cstdint>
#include <span>

#include "event-log/format/codec.hpp"

namespace uctrace::log {

// The block that begins at `words`, if it is complete: plausible sizes, a known lane and stream,
// the right checksum. Otherwise nullptr.
const BlockHeader* block_at(std::span<const std::uint64_t> words);

// Unpacks `block`, found by block_at(), into `records`, which has room for its raw_bytes. False: no
// encoder makes such a block.
bool decode_block(const BlockHeader& block, std::span<std::uint64_t> records);

}  // namespace uctrace::log
