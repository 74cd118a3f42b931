// A number of bytes as users write it: 65536, 512K, 64M, 2G (powers of 1024; KiB, MiB, GiB too).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace uctrace::cli {

// Only whole numbers that fit into 63 bits.
std::optional<std::uint64_t> parse_size_bytes(std::string_view text);

}  // namespace uctrace::cli
