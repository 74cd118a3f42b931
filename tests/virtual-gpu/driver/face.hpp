// In what the vendors' faces of the virtual GPUs differ but for their functions. Each library has
// one of its own; a process may load several.
#pragma once

#include <cstdint>

namespace virtual_gpu {

struct Face {
  const char* visible_variable;  // of the environment: which GPUs the program sees
  std::uint64_t first_address;   // of those of the first GPU
  int slot;                      // the first GPU is at 0000:(10 + slot):00.0
  const char* kind;              // makes UUIDs of the vendors differ
};

extern const Face kFace;

}  // namespace virtual_gpu
