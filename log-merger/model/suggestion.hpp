// "Did you mean ...?": the known word nearest to an unknown one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace {

// Fewest insertions, deletions, replacements and swaps of neighbours between two words.
std::size_t edit_distance(std::string_view left, std::string_view right);

// The intended word: one that begins with `word`, else the nearest, ignoring case. Empty if no word
// is near enough.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// "did you mean 'record'?", empty if no word is near enough.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace uctrace
