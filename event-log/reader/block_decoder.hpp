// Unpacks the blocks of a log. Trusts nothing of them. For offline code.
#pragma once

#include <cstdint>
#include <span>

#include "event-log/format/codec.hpp"

namespace uctrace::log {

// The block that begins at `words`, if it is whole: sizes that can be, a known lane and stream, the
// right checksum. Otherwise nullptr.
const BlockHeader* block_at(std::span<const std::uint64_t> words);

// Unpacks `block`, as block_at() found it, into `records`, which has room for its raw_bytes. False:
// it is not made as an encoder makes it.
bool decode_block(const BlockHeader& block, std::span<std::uint64_t> records);

}  // namespace uctrace::log
