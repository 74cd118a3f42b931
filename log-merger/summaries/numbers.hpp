// Numbers for what rows agree in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace uctrace::summaries {

// What rows agree in, as numbers.
template <std::size_t kCount>
using Key = std::array<std::uint32_t, kCount>;

template <typename... Values>
Key<sizeof...(Values)> key_of(Values... values) {
  return {static_cast<std::uint32_t>(values)...};
}

// Numbers keys in the order in which they first come.
template <typename Of>
class Numbers {
 public:
  // The number, and whether it is a new one.
  std::pair<std::uint32_t, bool> of(const Of& key) {
    const auto [at, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size()));
    return {at->second, is_new};
  }

  std::optional<std::uint32_t> find(const Of& key) const {
    const auto at = numbers_.find(key);
    return at == numbers_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  struct Hash {
    std::size_t operator()(const Of& key) const {
      return std::hash<std::string_view>()(
          {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(std::uint32_t)});
    }
  };
  std::unordered_map<Of, std::uint32_t, Hash> numbers_;
};

}  // namespace uctrace::summaries
