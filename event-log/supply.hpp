// The helper thread that keeps the recorder supplied: it alone grows the log file, maps chunks and
// slabs, retires them, refreshes the clock anchors and takes back the lanes of dead threads. All
// its signals are blocked, so a signal that a failing allocation raises (SIGXFSZ) hurts nobody.
//
// Private to event-log/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder.hpp"

namespace uctrace::log {

inline constexpr std::size_t kReadyChunks = 48;
inline constexpr std::size_t kReadySlabs = 4;
inline constexpr std::size_t kRetiredChunks = 256;

// What passes between the helper and the recording threads; every field is lock-free.
struct Supply {
  std::atomic<ChunkHeader*> ready_chunks[kReadyChunks];
  std::atomic<std::uint32_t> next_chunk;        // where the next is taken, modulo kReadyChunks
  std::atomic<Slot*> ready_slabs[kReadySlabs];  // chains linked by Slot::next
  std::atomic<void*> retired[kRetiredChunks];   // chunks to unmap
  std::atomic<std::uint32_t> ready;             // futex: 1 once start-up succeeded, 2 failed
  std::atomic<std::uint32_t> wanted;            // futex: moves on when the helper is to look
  std::atomic<std::uint32_t> stop;              // futex: 1 = finish, 2 = the helper has finished
  ProcessPage* page;
  Lane* lanes;
};
extern constinit Supply supply;

// Opens the log and starts the helper; waits until the first chunks are ready. False: no log could
// be made, not even for the counters. Preserves errno.
bool start_supply(Lane* lanes);

// Makes the helper look at once what is missing. One system call.
void wake_supply();

// Stops the helper, takes back unused chunks and trims the file. Waits a bounded time.
void stop_supply();

LaneInfo* lane_info(ProcessPage* page, std::size_t index);

ChunkHeader* take_chunk();
void retire_chunk(void* chunk);
Slot* take_slab();

}  // namespace uctrace::log
