// The conventions of the profiler mpisee and its analysis script (version 4.1): names and order of
// operations, the volume of a call, and size buckets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::mpisee {

// Its operations in the order of their numbers. The script treats those up to Ibsend as
// point-to-point and those from Bcast on as collective.
std::span<const std::string_view> operations();
inline constexpr std::string_view kLastPointToPoint = "Ibsend", kFirstCollective = "Bcast";

// "Allreduce" of MPI_Allreduce, "Fence" of MPI_Win_fence.
std::string operation_name(std::string_view function);

struct CallBytes {
  std::uint64_t sent = 0, received = 0;  // by this rank in this call
  std::uint32_t group = 1;               // processes that the data goes to
};
// The bytes that mpisee counts for a call: by its arguments, not by actual traffic.
std::uint64_t volume(const MpiName& name, const CallBytes& bytes);

struct Bucket {
  std::uint64_t min, max;
};
// The bucket of a call. Functions with a count per process, completions and synchronisation are in
// the first one.
Bucket bucket(const MpiName& name, std::uint64_t volume);

}  // namespace uctrace::mpisee
