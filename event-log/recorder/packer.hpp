// Takes the chunks that threads have left, packs their records into the log, and makes them ready
// again. For a drained log (kinds.hpp) it also packs chunks that threads still record into, every
// kDrainIntervalNs, and then writes the process page. It then has its own thread, so that a slow or
// stuck file system blocks neither the job nor the helper. For a mapped log the helper packs.
//
// The file is a readable log at any time. A mapped log needs the file of its chunks for that; a
// drained one is at most kDrainIntervalNs behind while its file system responds. The page is copied
// before the records it counts and written after them.
//
// Private to event-log/. Only the helper calls these functions, unless the comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/output_log.hpp"

namespace uctrace::log {

// How much memory chunks of a drained log that wait to be written may take, besides those that
// threads hold; beyond it records are dropped and counted.
inline constexpr std::size_t kMostUndrained = 64 << 20;
// The chunks of a mapped log: those that are ready or wait to be packed.
inline constexpr std::uint64_t kMostRingBytes = 12 << 20;
constexpr std::uint64_t most_waiting_bytes(Storage storage) {
  return storage == Storage::drained ? kMostUndrained : kMostRingBytes;
}
inline constexpr long kDrainIntervalNs = 500'000'000;

// In a fork child: forgets the parent's packer.
void forget_packer();

// Which threads assist the packer.
struct Assistance {
  std::uint32_t threads = 0;  // additional threads of ours, as far as possible
  bool callers = false;       // the program's, while they wait for a chunk
  bool any() const { return threads != 0 || callers; }
};

// Takes over the file. The assistants start here, while the program waits for its log. False: there
// is no memory for it.
bool start_packer(const OutputLog& file, const Assistance& wanted);
// How much address space that takes.
std::size_t team_bytes(const Assistance& wanted);
// Allocates the room of a bounded log after the first chunks were made: later chunks must not take
// it. May take long.
void reserve_log();
// Packs retired chunks. If the packer has its own thread, wakes it if there are any.
void pack_retired();
// Whether the log was removed. Calls the file system.
bool log_is_removed();
// It was removed: nothing more is written.
void abandon_log();
// The errno of the last write to the file, 0 = it succeeded.
int packer_error();
// Whether the time goes into writing rather than packing.
bool storage_is_slow();
// Whether the thread that makes the log has been waiting for the file system for longer than this.
// For any thread.
bool waits_for_storage(std::uint64_t for_ns = 10'000'000);
// Whether its own thread was killed, by a sandbox. For any thread.
bool packer_is_gone();
// While it lives, the calling thread, which makes the log, is in calls that the file system may
// delay.
class StorageCall {
 public:
  StorageCall();
  ~StorageCall();
  StorageCall(const StorageCall&) = delete;
  StorageCall& operator=(const StorageCall&) = delete;
};
// Threads of the packer: 1, or 0 if the helper packs, plus the assistants that run at the moment.
std::uint32_t packer_threads();
// For a thread of the program that finds no chunk: packs a part of the backlog. False: there is
// nothing to do now. Makes a system call only at its end.
bool assist_packing();
// Ends the assistants. For the helper and the packer.
void dismiss_assistants();
// Sets how many chunks to keep ready; a drained log releases the memory of others.
void set_ready_target(std::size_t chunks);

// Packs everything recorded and writes a page that says so: closed. Records that could not be
// written stay in the file of chunks, or are counted as dropped if there is none. If the packer has
// its own thread, that thread does it; then wait for it.
void stop_packer();
// The same after the helper has left: everything not packed is in the file of chunks, so a store
// closes a mapped log. A drained one stays open. On any thread.
void close_without_helper();
// Returns when that is done, or when EndWait gives up: then the log stays open. For the thread that
// ends the process.
void wait_for_packer(std::uint64_t end_begun_ns);

}  // namespace uctrace::log
