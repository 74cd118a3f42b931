#include "log-merger/load/caller_stacks.hpp"

#include <algorithm>

namespace uctrace::merge {

void CallerStacks::finish_definitions() {
  for (const Module& module : log_.modules) {
    module_ticks_.push_back(module.tick);
  }
  std::sort(module_ticks_.begin(), module_ticks_.end());
}

std::uint32_t CallerStacks::stack_of(std::uint64_t caller, std::uint64_t tick) {
  if (caller == 0) {
    return 0;
  }
  const auto modules =
      std::upper_bound(module_ticks_.begin(), module_ticks_.end(), tick) - module_ticks_.begin();
  const auto next = static_cast<std::uint32_t>(UINT32_MAX - callers_.size());
  const auto [at, fresh] = callers_.try_emplace({caller, modules}, next);
  if (fresh) {
    log_.stacks.push_back({next, true, tick, {caller}});
  }
  return at->second;
}

}  // namespace uctrace::merge
