// Which partitions of a send and of its receive overlap, and by how many bytes. Both divide the
// same bytes into equal parts. Pure functions; private to the partitions.
//
// Source of J and I: Thaerigen, Hermanns, Geimer, "An Event Model for Trace-Based Performance
// Analysis of MPI Partitioned Point-to-Point Communication" (SC-W 2023), section 4.2.2.
#pragma once

#include <cstdint>

namespace uctrace::merge {

// Partitions [first, end).
struct PartitionRange {
  std::uint64_t first = 0, end = 0;
};

// The partitions among `others` that overlap partition `i` of `own`: J(i) for a send's partition
// among those of the receive, I(j) vice versa. `own` is not 0; both are below 2^32, as is i.
PartitionRange overlapping(std::uint64_t i, std::uint64_t own, std::uint64_t others);

// The overlap in bytes of partition i of `sends` and partition j of `receives`, of `bytes` in
// total. Neither count is 0.
std::uint64_t common_bytes(std::uint64_t i, std::uint64_t sends, std::uint64_t j,
                           std::uint64_t receives, std::uint64_t bytes);

}  // namespace uctrace::merge
