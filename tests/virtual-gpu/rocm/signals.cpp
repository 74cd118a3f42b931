// Signals of ROCm's HSA runtime, and what ends by one: copies that the program does not wait for.
// They are done when the program has polled the signal `polls` times, or waits for it.
#include <cstdlib>
#include <map>
#include <vector>

#include "../driver/memory.hpp"
#include "hsa.hpp"

using namespace virtual_gpu;

namespace {

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

struct Signal {
  hsa_signal_value_t value;
  std::vector<Copy> ending = {};  // each takes one off the value
  int looks = 0;
};

std::map<std::uint64_t, Signal>& signals() {
  static auto& all = *new std::map<std::uint64_t, Signal>();
  return all;
}

Signal* signal_of(hsa_signal_t handle) {
  const auto found = signals().find(handle.handle);
  return found == signals().end() ? nullptr : &found->second;
}

// An error of a copy is reported as by the runtime: with a negative value.
void end_copies(Signal& signal) {
  for (const Copy& copy : signal.ending) {
    const bool done = virtual_gpu::copy(copy.to, copy.from, copy.bytes) == HSA_STATUS_SUCCESS;
    signal.value = done ? signal.value - 1 : -1;
  }
  signal.ending.clear();
  signal.looks = 0;
}

bool holds(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t with) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == with;
    case HSA_SIGNAL_CONDITION_NE:
      return value != with;
    case HSA_SIGNAL_CONDITION_LT:
      return value < with;
    default:
      return value >= with;
  }
}

// What the runtime has to say of a signal is its value.
template <typename Body>
hsa_signal_value_t value_of(const char* function, hsa_signal_t handle, Body body) {
  hsa_signal_value_t value = -1;  // an error
  run(function, [&] {
    Signal* const signal = signal_of(handle);
    if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    value = body(*signal);
    return HSA_STATUS_SUCCESS;
  });
  return value;
}

}  // namespace

VIRTUAL_HSA_EXPORT hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t,
                                                  const hsa_agent_t*, hsa_signal_t* signal) {
  return run("hsa_signal_create", [&] {
    signal->handle = memory().new_id();
    signals()[signal->handle] = {initial_value};
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  return run("hsa_signal_destroy", [&] {
    Signal* const one = signal_of(signal);
    if (one == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    end_copies(*one);
    signals().erase(signal.handle);
    return HSA_STATUS_SUCCESS;
  });
}

VIRTUAL_HSA_EXPORT hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t handle) {
  return value_of("hsa_signal_load_scacquire", handle, [](Signal& signal) {
    if (++signal.looks > settings().polls) end_copies(signal);
    return signal.value;
  });
}

VIRTUAL_HSA_EXPORT void hsa_signal_store_screlease(hsa_signal_t handle, hsa_signal_value_t value) {
  value_of("hsa_signal_store_screlease", handle, [&](Signal& signal) {
    signal.looks = 0;
    return signal.value = value;
  });
}

// What does not hold then, another thread would have to bring about: no caller has one.
VIRTUAL_HSA_EXPORT hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t handle,
                                                                hsa_signal_condition_t condition,
                                                                hsa_signal_value_t compare_value,
                                                                uint64_t, hsa_wait_state_t) {
  return value_of("hsa_signal_wait_scacquire", handle, [&](Signal& signal) {
    if (!holds(condition, signal.value, compare_value)) end_copies(signal);
    if (!holds(condition, signal.value, compare_value)) std::abort();
    return signal.value;
  });
}

VIRTUAL_HSA_EXPORT hsa_status_t hsa_amd_memory_async_copy(void* dst, hsa_agent_t, const void* src,
                                                          hsa_agent_t, size_t size,
                                                          uint32_t num_dep_signals,
                                                          const hsa_signal_t* dep_signals,
                                                          hsa_signal_t completion_signal) {
  return run("hsa_amd_memory_async_copy", [&] {
    Signal* const signal = signal_of(completion_signal);
    if (signal == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    for (uint32_t i = 0; i < num_dep_signals; ++i) {
      Signal* const before = signal_of(dep_signals[i]);
      if (before == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
      end_copies(*before);
      if (before->value != 0) std::abort();  // as hsa_signal_wait_scacquire()
    }
    signal->looks = 0;
    signal->ending.push_back({dst, src, size});
    return HSA_STATUS_SUCCESS;
  });
}
