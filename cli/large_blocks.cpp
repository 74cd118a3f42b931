// Where the command gets its memory: what a merge has too much of goes to a file
// (log-merger/spill/). Aligned forms are left alone, as no row needs them. A sanitizer has an
// allocator of its own.
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
