// What kernels on GPUs may use by themselves, summed up.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/model/memory_call_rows.hpp"

namespace uctrace {

struct KernelAccessTotals {
  std::uint64_t endpoints = 0, buffers = 0;
  std::uint64_t bytes = 0;  // of the buffers
};

// A row that has no address is an endpoint.
inline KernelAccessTotals totals_of(const std::vector<KernelAccessRow>& rows) {
  KernelAccessTotals totals;
  for (const KernelAccessRow& row : rows) {
    ++(row.local_address == 0 && row.remote_address == 0 ? totals.endpoints : totals.buffers);
    totals.bytes += row.bytes;
  }
  return totals;
}

}  // namespace uctrace
