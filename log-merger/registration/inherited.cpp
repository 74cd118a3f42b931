#include "log-merger/registration/inherited.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace uctrace::merge {

std::size_t count_inherited(const std::vector<MemoryCall>& parent,
                            const std::vector<const MemoryCall*>& ends) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>>
      begun;  // ticks, by domain and handle
  for (const MemoryCall& call : parent) {
    if (call.begins()) begun[{call.domain, call.key}].push_back(call.start_tick);
  }
  for (auto& [handle, ticks] : begun) std::sort(ticks.begin(), ticks.end());

  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> taken;
  std::size_t inherited = 0;
  for (const MemoryCall* end : ends) {
    const std::pair handle(end->domain, end->key);
    const auto at = begun.find(handle);
    if (at == begun.end()) continue;
    std::size_t& next = taken[handle];
    if (next == at->second.size() || at->second[next] >= end->start_tick) continue;
    ++next;
    ++inherited;
  }
  return inherited;
}

}  // namespace uctrace::merge
