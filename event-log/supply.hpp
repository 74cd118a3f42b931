// The helper thread that keeps the recorder supplied: it alone grows the log file, maps chunks and
// slabs, retires them, refreshes the clock anchors and takes back the lanes of dead threads.
//
// Private to event-log/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder.hpp"

namespace uctrace::log {

inline constexpr std::size_t kReadyChunks = 48;
inline constexpr std::size_t kReadySlabs = 16;
inline constexpr std::size_t kRetiredChunks = 256;

// What passes between the helper and the recording threads; every field is lock-free.
struct Supply {
  std::atomic<ChunkHeader*> ready_chunks[kReadyChunks];
  std::atomic<std::uint32_t> next_chunk;        // where the next is taken, modulo kReadyChunks
  std::atomic<Slot*> ready_slabs[kReadySlabs];  // chains linked by Slot::next
  std::atomic<void*> retired[kRetiredChunks];   // chunks to unmap
  std::atomic<std::uint32_t> ready;             // futex: 1 started, 2 failed, 3 given up
  std::atomic<std::uint32_t> wanted;            // futex: moves on when the helper is to look
  std::atomic<std::uint32_t> stop;              // futex: 1 = finish, 2 = the helper has finished
  ProcessPage* page;
  Lane* lanes;
  int start_errno;  // why the helper could not start
  bool has_helper;
};
extern constinit Supply supply;

// Starts the helper, which opens the log; waits until the first chunks are ready. Where there can
// be no helper (no thread, or a file system that does not answer) the log holds counters only.
// False: no log could be made, not even for the counters. Preserves errno.
bool start_supply(Lane* lanes);

// Makes the helper look at once what is missing. One system call.
void wake_supply();

// Stops the helper, takes back unused chunks, and closes the log. Waits a bounded time.
void stop_supply();

// Lends the lanes of threads that have ended to others. A system call for each lane that is in use.
void take_back_dead_lanes();

LaneInfo* lane_info(ProcessPage* page, std::size_t index);

ChunkHeader* take_chunk();
void retire_chunk(void* chunk);
Slot* take_slab();

}  // namespace uctrace::log
