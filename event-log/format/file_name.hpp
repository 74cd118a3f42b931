// Names from outside (hosts, batch jobs) as parts of file names. Both the recorder in the job and
// the command use it, so that they agree on the names. It calls no function.
#pragma once

#include <cstddef>

namespace uctrace::log {

inline constexpr std::size_t kLongestNamePart = 64;

// A buffer for one part and its final zero.
using NamePart = char[kLongestNamePart + 1];

// Writes `text` as a part of a file name: at most kLongestNamePart letters, digits, '.', '_' and
// '-', neither '.' nor '-' in front; "_" stands for everything else, and for no text at all.
inline const char* write_name_part(NamePart& out, const char* text) {
  const auto is_plain = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  };
  std::size_t n = 0;
  for (; text[n] != '\0' && n < kLongestNamePart; ++n) {
    const bool is_kept = is_plain(text[n]) || (n > 0 && (text[n] == '.' || text[n] == '-'));
    out[n] = is_kept ? text[n] : '_';
  }
  if (n == 0) out[n++] = '_';
  out[n] = '\0';
  return out;
}

}  // namespace uctrace::log
