#include "mpi-attribution/library.hpp"

#include <cstring>

namespace uctrace::mpi {

constinit Library library{};
constinit std::atomic<bool> one_thread_at_a_time{false};

Handle Library::handle_at(Word address) const {
  if (address == 0) return 0;
  if (handle_mask == UINT32_MAX) {
    std::uint32_t handle;
    std::memcpy(&handle, reinterpret_cast<const void*>(address), sizeof(handle));
    return handle;
  }
  Handle handle;
  std::memcpy(&handle, reinterpret_cast<const void*>(address), sizeof(handle));
  return handle;
}

}  // namespace uctrace::mpi

extern "C" UctraceWord uctrace_mpi_handle_at(UctraceWord pointer) {
  return uctrace::mpi::library.handle_at(pointer);
}

extern "C" UctraceWord uctrace_mpi_operands(UctraceWord op, UctraceWord count) {
  using uctrace::mpi::library;
  return library.handle(op) == library.no_op ? 0 : count;
}
