// Texts in arrays of a fixed size, as in the page of a log. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace uctrace::log {

// Up to the first NUL, or the end of the array.
template <std::size_t kCapacity>
std::string_view text_in(const char (&array)[kCapacity]) {
  return {array, strnlen(array, kCapacity)};
}

}  // namespace uctrace::log
