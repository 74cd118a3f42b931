// The threads that keep the recorder supplied. The helper makes chunks and slabs, refreshes the
// clock anchors and takes back the lanes of dead threads; the packer (packer.hpp) takes chunks that
// are full, packs their records into the log, and makes them ready again.
//
// UCTRACE_NO_HELPER=1 (`record --no-helper`): the helper makes all that there will be ready, and is
// gone when the program goes on. Who fills a chunk packs; from then on nothing here calls the
// system (no_helper.hpp).
//
// Private to event-log/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

inline constexpr std::size_t kChunkBytes = kMinChunkBytes;  // Lane::reserve_bytes counts on it
inline constexpr std::size_t kReadySlabs = 16;
// The most that all chunks of a process take.
inline constexpr std::uint64_t kMostChunkBytes = 512 << 20;
inline constexpr std::size_t kPlaces = kMostChunkBytes / kChunkBytes;
// How long the first record of a thread may wait for a lane, and for a chunk: while the helper does
// not get on, and in all. Where many threads start at once and spin for a lock, it gets little of a
// core.
inline constexpr std::uint64_t kFirstWaitNs = 3'000'000'000;
inline constexpr std::uint64_t kLongestFirstWaitNs = 10 * kFirstWaitNs;
// A helper that did not come for so long is not just late.
inline constexpr std::uint64_t kGoneNs = 1'000'000'000;
// A thread that may not drop records does so after all once no chunk became free for so long.
inline constexpr std::uint64_t kNeverDropStallNs = 30'000'000'000;

// A chunk goes round: ready, taken by a thread, retired by it when it has left it, and ready again
// when its records are in the log.
enum class PlaceState : std::uint32_t { none = 0, ready, taken, retired };

struct Place {
  std::atomic<PlaceState> state;  // whose turn it is; all else belongs to who has that
  std::uint32_t packed;      // how far into the chunk its records are in the log; 0 = not at all
  std::uint64_t retired_as;  // the chunks of a lane retire in the order of their records
  ChunkHeader* chunk;
};

// Where the chunk of a place lies in the file of chunks of a mapped log.
constexpr std::uint64_t live_offset(std::size_t place) {
  return kLiveReserve + place * kChunkBytes;
}

// What a thread may wait for before its first record, or before each one (`never_drops`).
struct Shortage {
  std::atomic<DropCause> cause;      // why there is no more; helper_late = there will be
  std::atomic<bool> waited_in_vain;  // as long as a thread may: none waits again before one came
};

// What passes between the helper, the packer and the recording threads; every field is lock-free.
struct Pool {
  Place places[kPlaces];
  std::atomic<std::uint32_t> places_used;       // those behind are none
  std::atomic<std::uint32_t> ready_chunks;      // places in that state, so that a miss costs little
  std::atomic<std::uint64_t> ring_bytes;        // of all chunks there are
  std::atomic<std::uint64_t> retirements;       // so far
  std::atomic<std::uint64_t> recycled;          // of these chunks: packed and retired no more
  std::atomic<Slot*> ready_slabs[kReadySlabs];  // chains linked by Slot::next
  std::atomic<std::uint32_t> ready;             // futex: how far the start has come (helper.cpp)
  std::atomic<std::uint32_t> wanted;            // futex: moves on when the helper is to look
  std::atomic<std::uint32_t> wake_below;        // ready chunks; 0 = the helper looks soon anyway
  std::atomic<std::uint32_t> made;        // futex: moves on when who waits may find more, or pack
  std::atomic<std::uint32_t> waiting;     // threads, for their first lane or chunk, or for slots
  std::atomic<std::uint32_t> waiting_on;  // threads that wait for each chunk (`never_drops`)
  Shortage chunks, lanes, slabs;
  std::atomic<std::uint64_t> next_look_ns;  // the helper looks again well before this
  std::atomic<std::uint32_t> stop;          // futex: what becomes of the helper (helper.cpp)
  std::atomic<std::uint32_t> helper_lives;  // its thread's id; 0 once that is gone
  std::atomic<std::uint32_t> keeper;        // futex: of the thread of main_thread.cpp
  std::atomic<void* (*)(void*)> task;       // that a thread is to be started for; or nullptr
  ProcessPage* page;
  int start_errno;        // why the helper could not start
  DropCause why_counted;  // and records are only counted
  bool has_helper;        // it runs
  bool keeps_records;
  bool packs_in_calls;
  bool never_drops;  // threads wait for chunks and slabs instead
  bool no_helper;    // none is wanted, and no system calls once the log has begun
};
extern constinit Pool pool;

// Starts the helper, which opens the log; waits until the first chunks are ready. Where there can
// be no helper (no thread, or a file system that does not answer) the log holds counters only.
// False: no log could be made, not even for the counters. Preserves errno.
bool start_pool();

// Makes the helper look at once what is missing. One system call.
void wake_helper();

// Stops helper and packer, which closes the log. The end of the process, of which this is a part,
// began then; it has a bound in all (end_wait.hpp).
void stop_pool(std::uint64_t end_begun_ns);

// The ready chunk in the lowest place: the one that was used last, which is still in the cache. A
// system call if that wakes the helper, which idles: once in a burst, whose first chunks these are.
ChunkHeader* take_chunk();
// The same, but waits for the helper if that is only late. For the first record of a thread.
ChunkHeader* wait_for_chunk();
// Waits as long as chunks become free again, and counts for how long; packs meanwhile, if there is
// anything to pack. For programs that the user wants to be slowed down instead of losing records
// (UCTRACE_NEVER_DROP).
ChunkHeader* wait_for_free_chunk();
// A thread's wait for what the helper has yet to make.
class FirstWait {
 public:
  explicit FirstWait(Shortage& shortage);
  // Wakes the helper and waits until it made something since `made` was `seen`. False: the time is
  // over, or no waiting helps.
  bool wait(std::uint32_t seen);

 private:
  bool gets_on(std::uint64_t now);

  Shortage& shortage_;
  std::uint64_t latest_ns_, give_up_ns_;
  std::uint64_t helper_ns_ = UINT64_MAX;  // CPU time that the helper had when it was looked at
};
// One came: threads may wait for the next ones.
void end_shortage(Shortage& shortage);
// Why there was no chunk, or no lane, now.
DropCause chunk_shortage();
DropCause lane_shortage();
// Nobody writes to the chunk any more.
void retire_chunk(ChunkHeader* chunk);
// For helper and packer: the chunk of this place, which holds zeros, may be taken.
void make_ready(Place& place);
// nullptr: none is ready.
Slot* take_slab();
// Waits for the next one, for a bounded time while the helper lives, and counts for how long: who
// never drops knows of each operation when it ended. Slots that others give back are not waited
// for: their operations may be this thread's to end.
Slot* wait_for_slab();

}  // namespace uctrace::log
