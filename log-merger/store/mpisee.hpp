// What the profiler mpisee and its analysis script (version 4.1) take a profile to be: names and
// order of operations, what a call's volume is, and the buckets of sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::mpisee {

// Its operations in the order of their numbers. The script takes those up to Ibsend for
// point-to-point and those from Bcast on for collective ones.
std::span<const std::string_view> operations();
inline constexpr std::string_view kLastPointToPoint = "Ibsend", kFirstCollective = "Bcast";

// "Allreduce" of MPI_Allreduce, "Fence" of MPI_Win_fence.
std::string operation_name(std::string_view function);

struct CallBytes {
  std::uint64_t sent = 0, received = 0;  // by this rank in this call
  std::uint32_t group = 1;               // processes that the data goes to
};
// The bytes that mpisee counts for a call: of its arguments, not those that were moved.
std::uint64_t volume(const MpiName& name, const CallBytes& bytes);

struct Bucket {
  std::uint64_t min, max;
};
// Which bucket a call falls in. Forms with a count for each process, completions and
// synchronisation are in the first one.
Bucket bucket(const MpiName& name, std::uint64_t volume);

}  // namespace uctrace::mpisee
