// Values as HDF5 stores them: in chunks that its filters pack one by one. Packing is done here, so
// that several threads share it; HDF5 itself is entered by one thread and packs with one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::store {

inline constexpr std::size_t kChunkValues = 64 * 1024;

// A chunk as in the file: after the filters shuffle (if wanted), deflate and fletcher32.
std::vector<std::uint8_t> pack_chunk(std::span<const std::uint8_t> values, std::size_t value_bytes,
                                     bool shuffled = true);

// The reverse of pack_chunk(), for exactly the length of `values`. False: `packed` is not such a
// chunk, or is damaged; `values` is then undefined.
bool unpack_chunk(std::span<const std::uint8_t> packed, std::size_t value_bytes, bool shuffled,
                  std::span<std::uint8_t> values);

// Byte 0 of all values, then byte 1 of all, and so on.
void shuffle(std::span<const std::uint8_t> values, std::size_t value_bytes, std::uint8_t* planes);

// The reverse.
void unshuffle(std::span<const std::uint8_t> planes, std::size_t value_bytes, std::uint8_t* values);

// As in HDF5, over big-endian words of two bytes.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes);

}  // namespace uctrace::store
