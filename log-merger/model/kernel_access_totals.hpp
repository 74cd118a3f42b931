// Totals of what GPU kernels may use directly.
#pragma once

#include <cstdint>

#include "event-log/format/ucp_names.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

// How often each was granted; repeated grants count.
struct KernelAccessTotals {
  std::uint64_t endpoints = 0, buffers = 0;
  std::uint64_t bytes = 0;  // of the buffers
};

inline KernelAccessTotals totals_of(const Run& run) {
  const auto function = static_cast<std::size_t>(log::MemoryFunction::uct_ep_get_device_ep);
  const TextId of_endpoints = run.texts.find(log::kMemoryFunctionNames[function]);
  KernelAccessTotals totals;
  for (const KernelAccessRow& row : run.kernel_accesses) {
    ++(row.function == of_endpoints ? totals.endpoints : totals.buffers);
    totals.bytes += row.bytes;
  }
  return totals;
}

}  // namespace uctrace
