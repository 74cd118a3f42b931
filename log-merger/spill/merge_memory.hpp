// Whether a merge needs more memory than allowed, and the consequence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "event-log/reader/error.hpp"

namespace uctrace::spill {

struct MemoryChoice {
  std::uint64_t most_bytes = 0;  // by the user; 0 = three quarters of what is available
  // The folder for spilling, beside the store. Called only if needed.
  std::function<std::filesystem::path()> folder;
};

// The approximate memory of a merge: by the size of logs, and by the number of events.
std::uint64_t needed_for_logs(std::uint64_t log_bytes);
std::uint64_t needed_for_events(std::uint64_t events);

// Begins to spill (spill.hpp) if that exceeds the bound. If spilling is impossible, throws Error if
// the user set the bound; otherwise goes on in memory.
void begin_if_needed(std::uint64_t needed_bytes, const MemoryChoice& choice);

// The error for a disk without room.
Error no_room();

}  // namespace uctrace::spill
