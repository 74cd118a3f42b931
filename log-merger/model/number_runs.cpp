#include "log-merger/model/number_runs.hpp"

#include <fmt/format.h>

namespace uctrace {

std::string number_runs(const std::vector<std::int64_t>& numbers, std::uint64_t unnamed) {
  constexpr std::size_t kRuns = 8;
  std::string text;
  std::size_t i = 0;
  for (std::size_t runs = 0; i < numbers.size() && runs < kRuns; ++runs) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : "-", numbers[last]);
    i = last + 1;
  }
  const std::uint64_t more = numbers.size() - i + unnamed;
  if (more > 0) text += fmt::format("{}{} more", text.empty() ? "" : " and ", more);
  return text;
}

}  // namespace uctrace
