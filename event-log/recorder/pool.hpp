// The threads that keep the recorder supplied. The helper makes chunks and slabs, refreshes the
// clock anchors and takes back the lanes of dead threads; the packer (packer.hpp) takes full
// chunks, packs their records into the log, and makes them ready again.
//
// UCTRACE_NO_HELPER=1 (`record --no-helper`): the helper prepares everything in advance and is gone
// when the program goes on. The thread that fills a chunk packs it; from then on nothing here makes
// system calls (no_helper.hpp).
//
// Private to event-log/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

inline constexpr std::size_t kChunkBytes = kMinChunkBytes;  // Lane::reserve_bytes relies on it
inline constexpr std::size_t kReadySlabs = 16;
// The most that all chunks of a process take.
inline constexpr std::uint64_t kMostChunkBytes = 512 << 20;
inline constexpr std::size_t kPlaces = kMostChunkBytes / kChunkBytes;
// How long the first record of a thread may wait for a lane, and for a chunk: without progress of
// the helper, and in total. If many threads start at once and spin for a lock, the helper gets
// little of a core.
inline constexpr std::uint64_t kFirstWaitNs = 3'000'000'000;
inline constexpr std::uint64_t kLongestFirstWaitNs = 10 * kFirstWaitNs;
// A helper that did not poll for so long is not just late.
inline constexpr std::uint64_t kGoneNs = 1'000'000'000;
// A thread that must not drop records does so after all if no chunk became free for so long.
inline constexpr std::uint64_t kNeverDropStallNs = 30'000'000'000;

// The cycle of a chunk: ready, taken by a thread, retired when the thread has left it, and ready
// again when its records are in the log.
enum class PlaceState : std::uint32_t { none = 0, ready, taken, retired };

struct Place {
  std::atomic<PlaceState> state;  // decides which thread owns all other fields
  std::uint32_t packed;           // offset up to which its records are in the log; 0 = none
  std::uint64_t retired_as;       // the chunks of a lane retire in the order of their records
  ChunkHeader* chunk;
};

// The offset of a place's chunk in the file of chunks of a mapped log.
constexpr std::uint64_t live_offset(std::size_t place) {
  return kLiveReserve + place * kChunkBytes;
}

// Something that a thread may wait for before its first record, or before each one (`never_drops`).
struct Shortage {
  std::atomic<DropCause> cause;      // why there is no more; helper_late = there will be
  std::atomic<bool> waited_in_vain;  // a thread waited as long as it may: no other waits until one
                                     // came
};

// Shared by the helper, the packer and the recording threads; every field is lock-free.
struct Pool {
  Place places[kPlaces];
  std::atomic<std::uint32_t> places_used;       // the places after these are `none`
  std::atomic<std::uint32_t> ready_chunks;      // places in that state, so that a miss costs little
  std::atomic<std::uint64_t> ring_bytes;        // of all chunks
  std::atomic<std::uint64_t> retirements;       // so far
  std::atomic<std::uint64_t> recycled;          // of these, the chunks that were packed and made
                                                // ready
  std::atomic<Slot*> ready_slabs[kReadySlabs];  // chains linked by Slot::next
  std::atomic<std::uint32_t> ready;             // futex: how far the start has come (helper.cpp)
  std::atomic<std::uint32_t> wanted;            // futex: changes when the helper should poll
  std::atomic<std::uint32_t> wake_below;        // ready chunks; 0 = the helper polls soon anyway
  std::atomic<std::uint32_t> made;        // futex: changes when waiting threads may find more, or
                                          // pack
  std::atomic<std::uint32_t> waiting;     // threads, for their first lane or chunk, or for slots
  std::atomic<std::uint32_t> waiting_on;  // threads that wait for each chunk (`never_drops`)
  Shortage chunks, lanes, slabs;
  std::atomic<std::uint64_t> next_look_ns;  // the helper polls again well before this
  std::atomic<std::uint32_t> stop;          // futex: the state of the helper's end (helper.cpp)
  std::atomic<std::uint32_t> helper_lives;  // its thread's id; 0 once that is gone
  std::atomic<std::uint32_t> keeper;        // futex: of the thread of main_thread.cpp
  std::atomic<void* (*)(void*)> task;       // for which to start a thread; or nullptr
  ProcessPage* page;
  int start_errno;        // why the helper could not start
  DropCause why_counted;  // why records are only counted
  bool has_helper;        // it runs
  bool keeps_records;
  bool packs_in_calls;
  bool never_drops;  // threads wait for chunks and slabs instead
  bool no_helper;    // none is wanted, and no system calls once the log has begun
};
extern constinit Pool pool;

// Starts the helper, which opens the log; waits until the first chunks are ready. If there can be
// no helper (no thread, or a file system that does not respond), the log has counters only. False:
// no log could be made, not even for the counters. Preserves errno.
bool start_pool();

// Makes the helper poll at once. One system call.
void wake_helper();

// Stops helper and packer, which closes the log. The end of the process, of which this is a part,
// began at `end_begun_ns`; it has a total bound (end_wait.hpp).
void stop_pool(std::uint64_t end_begun_ns);

// The ready chunk in the lowest place: it was used last and is still in the cache. Makes a system
// call only to wake an idle helper: once at the beginning of a burst.
ChunkHeader* take_chunk();
// The same, but waits for a helper that is only late. For the first record of a thread.
ChunkHeader* wait_for_chunk();
// Waits while chunks still become free, and counts the time; packs meanwhile if there is anything
// to pack. For programs that should slow down rather than lose records (UCTRACE_NEVER_DROP).
ChunkHeader* wait_for_free_chunk();
// A thread's wait for something that the helper still has to make.
class FirstWait {
 public:
  explicit FirstWait(Shortage& shortage);
  // Wakes the helper and waits until `made` differs from `seen`. False: the time is over, or
  // waiting does not help.
  bool wait(std::uint32_t seen);

 private:
  bool gets_on(std::uint64_t now);

  Shortage& shortage_;
  std::uint64_t latest_ns_, give_up_ns_;
  std::uint64_t helper_ns_ = UINT64_MAX;  // CPU time of the helper at the last check
};
// Something came: threads may wait again.
void end_shortage(Shortage& shortage);
// Why there was no chunk, or no lane, now.
DropCause chunk_shortage();
DropCause lane_shortage();
// Call it when nobody writes to the chunk any more.
void retire_chunk(ChunkHeader* chunk);
// For helper and packer: the chunk of this place, which is all zeros, may be taken.
void make_ready(Place& place);
// nullptr: none is ready.
Slot* take_slab();
// Waits a bounded time for the next slab while the helper lives, and counts the time: with
// never-drop the end of each operation is known. It does not wait for slots that others return:
// this thread itself may have to end their operations.
Slot* wait_for_slab();

}  // namespace uctrace::log
