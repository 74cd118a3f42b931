// Classes of lengths, used in sums of messages and calls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace uctrace {

// The number of bits of the length: 2^(size - 1) <= bytes < 2^size; 0 for 0.
inline std::uint8_t size_class(std::uint64_t bytes) {
  return static_cast<std::uint8_t>(std::bit_width(bytes));
}

// The smallest length of a class.
inline std::uint64_t length_of(std::uint8_t size_class) {
  constexpr std::uint8_t kBits = 64;
  return size_class == 0 ? 0 : std::uint64_t{1} << (std::min(size_class, kBits) - 1);
}

// Whether all lengths of each class are on the same side of `bytes`: below, or not.
constexpr bool is_between_classes(std::uint64_t bytes) {
  return bytes == 0 || std::has_single_bit(bytes);
}

}  // namespace uctrace
