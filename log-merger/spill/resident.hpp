// Memory that processes hold, and may hold. Private to the spilling and to who decides on it.
#pragma once

#include <cstdint>

namespace uctrace::spill {

struct Resident {
  std::uint64_t bytes = 0;
  std::uint64_t of_files = 0;  // those of mapped files, a part of it
};

// What this process holds in memory now. Opened once: asked often.
class ResidentBytes {
 public:
  ResidentBytes();
  ~ResidentBytes();
  ResidentBytes(const ResidentBytes&) = delete;
  ResidentBytes& operator=(const ResidentBytes&) = delete;

  // Zeros: the system does not tell.
  Resident operator()() const;

 private:
  int fd_;
};

// How many more this process may take before the machine, or the control group that it is in, has
// none left. UINT64_MAX: the system does not tell.
std::uint64_t available_bytes();

}  // namespace uctrace::spill
