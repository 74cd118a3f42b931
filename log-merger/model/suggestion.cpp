#include "log-merger/model/suggestion.hpp"

#include <algorithm>

namespace uctrace {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

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
  const std::string typed = lower_case(word);
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::string meant = lower_case(candidate);
    const bool is_begun = typed.size() > 1 && meant != typed && meant.starts_with(typed);
    const std::size_t distance = is_begun ? 1 : edit_distance(typed, meant);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

}  // namespace uctrace
