// FNV-1a: short names to distinguish texts or bytes. It is no protection against attackers.
#pragma once

#include <cstdint>
#include <string_view>

namespace uctrace::log {

class Fnv64 {
 public:
  constexpr void add(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  constexpr void add(std::string_view bytes) {
    for (const char c : bytes) add(static_cast<std::uint8_t>(c));
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

constexpr std::uint64_t fnv64(std::string_view bytes) {
  Fnv64 hash;
  hash.add(bytes);
  return hash.value();
}

constexpr std::uint32_t fnv32(std::string_view bytes) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char c : bytes) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193u;
  return hash;
}

}  // namespace uctrace::log
