#include "interpose/patched.hpp"

#include <string.h>

#include <atomic>

#include "interpose/needed.hpp"

namespace uctrace::interpose {

namespace {

constinit std::atomic<const char*> first_undecided{nullptr};

bool is_patched(const Object& object) {
  return object.find("uct_tool_abi") != nullptr || object.find("ucp_tool_dispatch") != nullptr;
}

}  // namespace

Patched::Patched(const char* function) : function_(function) {
  if (strncmp(function, "uc", 2) != 0) {
    return;  // no function of UCX
  }
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* self = static_cast<Patched*>(data);
        const Object object(*info);
        void* function = object && !object.is_own() ? object.find(self->function_) : nullptr;
        if (function != nullptr && self->count_ < kMost && is_patched(object)) {
          self->functions_[self->count_++] = function;
        }
        return 0;
      },
      this);
}

void* Patched::linked_with(const void* caller) const {
  const Object from = object_of(caller);
  const Object found = first_to_define(function_, from);
  return found && is_patched(found) && !found.is_shadowed() ? found.find(function_) : nullptr;
}

void* Patched::likely(const void* global) const {
  void* chosen = nullptr;
  for (int i = 0; i < count_; ++i) {
    if (chosen == nullptr || chosen == global) {
      chosen = functions_[i];
    }
  }
  if (count_ > 1 || (global != nullptr && global != chosen)) {
    first_undecided.store(function_, std::memory_order_relaxed);
  }
  return chosen;
}

const char* undecided() { return first_undecided.load(std::memory_order_relaxed); }

}  // namespace uctrace::interpose
