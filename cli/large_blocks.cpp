// The command's memory allocation: a merge moves excess data to a file (log-merger/spill/). Aligned
// forms are left alone, because no row needs them. Sanitizers have their own allocator.
#include <new>

#include "log-merger/spill/spill.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void* operator new(std::size_t bytes) { return uctrace::spill::allocate(bytes); }
void* operator new[](std::size_t bytes) { return uctrace::spill::allocate(bytes); }
void operator delete(void* block) noexcept { uctrace::spill::release(block); }
void operator delete[](void* block) noexcept { uctrace::spill::release(block); }
void operator delete(void* block, std::size_t) noexcept { uctrace::spill::release(block); }
void operator delete[](void* block, std::size_t) noexcept { uctrace::spill::release(block); }

#endif
