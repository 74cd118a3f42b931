// "Did you mean ...?": the known word nearest to one that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace::cli {

// Fewest insertions, deletions, replacements and swaps of neighbours between two words.
std::size_t edit_distance(std::string_view left, std::string_view right);

// Empty if no word is near enough to be what was meant.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace uctrace::cli
