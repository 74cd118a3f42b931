#include "cli/command-line/time_option.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace uctrace::cli {

std::optional<std::uint64_t> parse_time_ns(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 5> kUnits = {
      {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"", 1'000'000'000}}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, digits);
  for (const auto& [unit, factor] : kUnits) {
    if (text.substr(digits) != unit) continue;
    unsigned __int128 value = 0;
    std::uint64_t scale = factor;
    bool has_digit = false, in_fraction = false;
    for (const char c : number) {
      if (c == '.') {
        if (in_fraction) return std::nullopt;
        in_fraction = true;
        continue;
      }
      has_digit = true;
      if (in_fraction && scale % 10 != 0) return std::nullopt;
      if (in_fraction) scale /= 10;
      const auto digit = static_cast<unsigned>(c - '0');
      value = in_fraction ? value + digit * scale : value * 10 + digit * factor;
      if (value > INT64_MAX) return std::nullopt;
    }
    if (!has_digit) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

}  // namespace uctrace::cli
