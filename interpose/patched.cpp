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
        if (object && !object.is_own() && object.find(self->function_) != nullptr &&
            is_patched(object) && self->count_++ == 0) {
          self->first_ = object;
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

void* Patched::any_but(const void* global) const {
  void* function = first_ ? first_.find(function_) : nullptr;
  if (count_ > 1 || (global != nullptr && global != function)) {
    first_undecided.store(function_, std::memory_order_relaxed);
  }
  return function;
}

const char* undecided() { return first_undecided.load(std::memory_order_relaxed); }

}  // namespace uctrace::interpose
