// Makes text of a log safe to show anywhere: a program names things as it likes, and a log may be
// damaged in any bit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace uctrace {

// The length of the UTF-8 character at the beginning of `text`; 0 if there is none, or if it is a
// control character: C0, DEL, C1, or one that changes the direction or the lines of the display.
constexpr std::size_t plain_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  char32_t code = first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  const bool control = code < 0xa0 || code == 0x61c || code == 0x200e || code == 0x200f ||
                       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return valid && !control ? size : 0;
}

constexpr bool is_plain(std::string_view text) {
  for (std::size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    size = plain_character(text);
    if (size == 0) return false;
  }
  return true;
}

// Valid UTF-8 on one line, without control characters: other bytes are written as \xNN.
inline std::string plain_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string plain;
  while (!text.empty()) {
    const std::size_t size = plain_character(text);
    if (size == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      plain += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      text.remove_prefix(1);
    } else {
      plain += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return plain;
}

}  // namespace uctrace
