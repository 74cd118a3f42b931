// Values as HDF5 stores them: in chunks that its filters pack one by one. Packing is done here, so
// that several threads share it; HDF5 itself is entered by one thread and packs with one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::store {

inline constexpr std::size_t kChunkValues = 64 * 1024;

// How a chunk lies in the file behind the filters deflate and fletcher32, and before these shuffle
// where that is wanted.
std::vector<std::uint8_t> pack_chunk(std::span<const std::uint8_t> values, std::size_t value_bytes,
                                     bool shuffled = true);

// What pack_chunk() was given, which must be as long as `values`. False: `packed` is nothing of the
// kind, or damaged; then `values` holds anything.
bool unpack_chunk(std::span<const std::uint8_t> packed, std::size_t value_bytes, bool shuffled,
                  std::span<std::uint8_t> values);

// Byte 0 of all values, then byte 1 of all, and so on.
void shuffle(std::span<const std::uint8_t> values, std::size_t value_bytes, std::uint8_t* planes);

// The same back again.
void unshuffle(std::span<const std::uint8_t> planes, std::size_t value_bytes, std::uint8_t* values);

// As HDF5 counts it, over words of two bytes of which the first is the upper one.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes);

}  // namespace uctrace::store
