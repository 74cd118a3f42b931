// A GPU whose driver is in the test program itself: some memory, in parts that are allocated and
// freed as the test says. It is the only one that uctrace knows here (gpu::kVendors).
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace::gpu::test {

inline constexpr unsigned kParts = 16;
inline constexpr std::size_t kPartBytes = 4096;

unsigned char* part(unsigned number);
// Part `number` of the memory that holds the address, kParts if none does.
unsigned part_at(const void* address);

// The buffer id of the new allocation; no two have the same.
std::uint64_t allocate(unsigned number);
void release(unsigned number);
bool is_allocated(const void* address);

// From now on the driver returns this error; 0: it answers normally.
void fail_with(int error);

}  // namespace uctrace::gpu::test
