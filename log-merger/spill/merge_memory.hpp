// Whether a merge takes more memory than it may, and what is done then.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "event-log/reader/error.hpp"

namespace uctrace::spill {

struct MemoryChoice {
  std::uint64_t most_bytes = 0;  // by the user; 0 = three quarters of what is available
  // Where what does not fit goes: beside the store. Called only if it is needed.
  std::function<std::filesystem::path()> folder;
};

// What a merge takes, about: of logs that are read, and of all their events.
std::uint64_t needed_for_logs(std::uint64_t log_bytes);
std::uint64_t needed_for_events(std::uint64_t events);

// Begins to spill (spill.hpp) where that is more than may be taken. Throws Error where it is and
// nothing can be spilled, and the user named the bound; else it goes on in memory.
void begin_if_needed(std::uint64_t needed_bytes, const MemoryChoice& choice);

// What is said where the disk has no room for it.
Error no_room();

}  // namespace uctrace::spill
