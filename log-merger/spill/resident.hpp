// Memory that processes hold and may hold. Private to spilling and the decision about it.
#pragma once

#include <cstdint>

namespace uctrace::spill {

struct Resident {
  std::uint64_t bytes = 0;
  std::uint64_t of_files = 0;  // the part of mapped files
};

// The present resident memory of this process. Opened once, because it is read often.
class ResidentBytes {
 public:
  ResidentBytes();
  ~ResidentBytes();
  ResidentBytes(const ResidentBytes&) = delete;
  ResidentBytes& operator=(const ResidentBytes&) = delete;

  // Zeros: not known.
  Resident operator()() const;

 private:
  int fd_;
};

// How many more bytes this process may take before the machine, or its control group, has none
// left. UINT64_MAX: not known.
std::uint64_t available_bytes();

}  // namespace uctrace::spill
