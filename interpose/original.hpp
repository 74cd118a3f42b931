// The function that a caller would have reached without us (scope.hpp), found once and kept. A
// process may hold several instances of UCX: in private scopes, or if one was built with patches/,
// each calling object has its own original.
//
// Use:   Original<decltype(&uct_ep_create)> original{"uct_ep_create"};   // constinit
//        auto* next = original.get(__builtin_return_address(0));         // nullptr: nowhere
// Cost: two loads after the first call; a few more if callers are told apart.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/scope.hpp"

namespace uctrace::interpose {

// True once callers must be told apart although the global scope has an original for them: a UCX
// that was built with patches/ is loaded.
extern constinit std::atomic<bool> callers_differ;

// Checks whether such a UCX has been loaded. For the rare calls that a UCX makes first, before they
// look for their original: making a context, opening a memory domain, an interface, a worker.
void look_for_patched_ucx();

class OriginalBase {
 public:
  constexpr explicit OriginalBase(const char* name) : name_(name) {}

 protected:
  void* find(const void* caller);

  const char* name_;
  std::atomic<void*> for_all_{nullptr};  // global_, as long as no caller has one of its own

 private:
  struct Local {
    ObjectRange object;  // the calling one
    void* function;
  };
  static constexpr std::size_t kMaxLocals = 16;

  void know_global(void* function);
  void* find_local(const void* caller) const;
  void remember_local(const void* caller, const Local& local);

  std::atomic<void*> global_{nullptr};
  std::atomic<std::uint32_t> locals_{0};
  Local local_[kMaxLocals]{};
};

template <typename Function>
class Original : public OriginalBase {
 public:
  using OriginalBase::OriginalBase;

  Function get(const void* caller) {
    if (Function known = get_known(); known != nullptr) [[likely]] {
      return known;
    }
    return reinterpret_cast<Function>(find(caller));
  }

  // The same without a search; nullptr: a search is needed.
  Function get_known() const {
    void* function = for_all_.load(std::memory_order_acquire);
    return callers_differ.load(std::memory_order_relaxed) ? nullptr
                                                          : reinterpret_cast<Function>(function);
  }
};

// Path of the module that holds this address; "" if none does.
const char* module_path(const void* address);

}  // namespace uctrace::interpose
