#include "cli/suggestion.hpp"

#include <algorithm>

namespace uctrace::cli {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  // distance[i][j]: between the first i characters of left and the first j of right.
  std::vector<std::vector<std::size_t>> distance(left.size() + 1,
                                                 std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) {
    for (std::size_t j = 0; j <= right.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = left[i - 1] == right[j - 1] ? 0 : 1;
      std::size_t best = std::min(
          {distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
        best = std::min(best, distance[i - 2][j - 2] + 1);
      }
      distance[i][j] = best;
    }
  }
  return distance[left.size()][right.size()];
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace uctrace::cli
