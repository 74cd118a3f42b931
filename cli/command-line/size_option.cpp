#include "cli/command-line/size_option.hpp"

#include <algorithm>
#include <charconv>

namespace uctrace::cli {

std::optional<std::uint64_t> parse_size_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t unit = kUnits.find(text.front());
    const std::string_view rest = text.substr(1);
    if (unit == std::string_view::npos || (!rest.empty() && rest != "iB" && rest != "B")) {
      return std::nullopt;
    }
    shift = 10 * (static_cast<unsigned>(unit) + 1);
  }
  if (value > (std::uint64_t{INT64_MAX} >> shift)) return std::nullopt;
  return value << shift;
}

}  // namespace uctrace::cli
