// Makes and grows the log file of this process. Used by the helper thread only; private to
// event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/records.hpp"

namespace uctrace::log {

// The open log. `grows` is false for the counters-only log in UCTRACE_FALLBACK_DIR, which is made
// where UCTRACE_DIR cannot be written: it says how much was dropped and why.
struct OutputLog {
  int fd = -1;
  bool grows = false;
  std::uint64_t bytes = 0;
  ProcessPage* page = nullptr;
};

// Creates the file and its mapped, filled-in ProcessPage. fd < 0: neither folder can be written.
OutputLog create_output_log();

// Allocates and maps `bytes` more of the file, zeroed and faulted in; nullptr with errno set if the
// file cannot grow. The order matters: blocks are allocated before they are mapped, because storing
// into a hole of a full disk is a SIGBUS for the program.
void* grow_output_log(OutputLog& file, std::size_t bytes);

void unmap_chunk(void* chunk);
void trim_output_log(OutputLog& file, std::uint64_t end);

// Anonymous memory for slots, faulted in; nullptr if the system has none.
void* map_slab(std::size_t bytes);

Clock choose_clock();
Anchor take_anchor();

}  // namespace uctrace::log
