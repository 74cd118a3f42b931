#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

constinit Library library{};
constinit std::atomic<std::uint8_t> may_share_ticks{0};

}  // namespace uctrace::mpi

extern "C" UctraceWord uctrace_mpi_handle_at(UctraceWord pointer) {
  return uctrace::mpi::library.handle_at(pointer);
}

extern "C" UctraceWord uctrace_mpi_request_at(UctraceWord pointer) {
  return uctrace::mpi::library.request_at(pointer);
}

extern "C" UctraceWord uctrace_mpi_request(UctraceWord request) {
  return uctrace::mpi::library.request(request);
}

extern "C" UctraceWord uctrace_mpi_operands(UctraceWord op, UctraceWord count) {
  using uctrace::mpi::library;
  return library.handle(op) == library.no_op ? 0 : count;
}

extern "C" UctraceWord uctrace_mpi_product(UctraceWord partitions, UctraceWord count, bool large) {
  const auto number = large || !uctrace::mpi::library.int_partitions
                          ? static_cast<std::int64_t>(count)
                          : std::int64_t{static_cast<std::int32_t>(count)};
  const bool wrong = static_cast<std::int32_t>(partitions) < 0 || number < 0;
  return wrong ? 0 : static_cast<std::uint32_t>(partitions) * static_cast<std::uint64_t>(number);
}
