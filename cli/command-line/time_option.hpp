// An instant of a run as users write it: 1.25s, 300ms, 40us, 7ns; a bare number is in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace uctrace::cli {

// Exact to the nanosecond; refuses more digits, and times that do not fit into 63 bits.
std::optional<std::uint64_t> parse_time_ns(std::string_view text);

}  // namespace uctrace::cli
