// An instant of a run as users write it: 1.25s, 300ms, 40us, 7ns; a bare number is in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace uctrace::cli {

// Exact to the nanosecond; digits beyond are refused, as is what does not fit 63 bits.
std::optional<std::uint64_t> parse_time_ns(std::string_view text);

}  // namespace uctrace::cli
