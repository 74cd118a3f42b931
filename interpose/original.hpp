// Finding the function that a caller would have reached without us.
//
// A preloaded function stands in front of every other of its name. The original is the next one in
// the global scope; where there is none, the library was loaded into a private scope (a Python
// wheel, a plug-in), and the original is found through the calling module's own scope. Nothing is
// found by file name. A process may hold several instances of UCX or MPI; in private scopes each
// calling module gets its own original.
//
// Use:   Original<decltype(&uct_ep_create)> original{"uct_ep_create"};   // constinit
//        auto* next = original.get(__builtin_return_address(0));         // nullptr: nowhere
// Cost: two loads after the first call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace uctrace::interpose {

struct Module {
  std::uintptr_t low, high;  // address range of the calling module
  void* function;
};

class OriginalBase {
 public:
  constexpr explicit OriginalBase(const char* name) : name_(name) {}

 protected:
  void* find(const void* caller);

  const char* name_;
  std::atomic<void*> global_{nullptr};
  std::atomic<std::uint32_t> locals_{0};

 private:
  static constexpr std::size_t kMaxLocals = 8;
  void* find_local(std::uintptr_t caller) const;

  Module local_[kMaxLocals]{};
};

template <typename Function>
class Original : public OriginalBase {
 public:
  using OriginalBase::OriginalBase;

  Function get(const void* caller) {
    void* global = global_.load(std::memory_order_acquire);
    if (global != nullptr && locals_.load(std::memory_order_relaxed) == 0) [[likely]] {
      return reinterpret_cast<Function>(global);
    }
    return reinterpret_cast<Function>(find(caller));
  }
};

// `name` as `caller` would resolve it with our own definitions skipped; nullptr if nowhere.
void* resolve(const char* name, const void* caller);

// Path of the module that holds this address; "" if none does.
const char* module_path(const void* address);

}  // namespace uctrace::interpose
