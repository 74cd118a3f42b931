// Takes the chunks that threads have left, packs their records into the log, and makes them ready
// again. Of a drained log (kinds.hpp) it also packs what threads are still recording, every
// kDrainIntervalNs, and writes the process page behind it. It then has a thread of its own, so that
// a file system which is slow or does not answer holds up neither the job nor the helper; of a
// mapped log the helper packs in between.
//
// The file is a readable log at any time: of a mapped log together with the file of its chunks, of
// a drained one at most kDrainIntervalNs behind while its file system answers. The page is copied
// before the records it counts and written after them.
//
// Private to event-log/. The helper calls everything here but what is said to be for others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/output_log.hpp"

namespace uctrace::log {

// What chunks that wait to be written may take of the memory of a drained log, beside those that
// threads have; beyond it records are dropped and counted.
inline constexpr std::size_t kMostUndrained = 64 << 20;
// The chunks of a mapped log: those that are ready or wait to be packed.
inline constexpr std::uint64_t kMostRingBytes = 12 << 20;
constexpr std::uint64_t most_waiting_bytes(Storage storage) {
  return storage == Storage::drained ? kMostUndrained : kMostRingBytes;
}
inline constexpr long kDrainIntervalNs = 500'000'000;

// What a fork child inherits is its parent's.
void forget_packer();

// Who is to assist who packs.
struct Assistance {
  std::uint32_t threads = 0;  // so many more of ours, as far as there can be as many
  bool callers = false;       // the program's, while they wait for a chunk
  bool any() const { return threads != 0 || callers; }
};

// Takes over the file. The threads that are to assist start here, as long as the program waits for
// its log. False: there is no memory for it.
bool start_packer(const OutputLog& file, const Assistance& wanted);
// What that takes of the address space.
std::size_t team_bytes(const Assistance& wanted);
// Takes the room of a log of bounded size, once the first chunks are there: those that follow must
// not take it. May take long.
void reserve_log();
// Packs what was retired. Where the packer has a thread this wakes it, if there is anything.
void pack_retired();
// Nobody can find the log any more. Calls the file system.
bool log_is_removed();
// It was removed: nothing more is written.
void abandon_log();
// Why the last write to the file failed, 0 = it did not.
int packer_error();
// Whether writing, and not packing, is what takes the time.
bool storage_is_slow();
// Whether who makes the log has waited for the file system for longer than this, and still does.
// For any thread.
bool waits_for_storage(std::uint64_t for_ns = 10'000'000);
// Whether its own thread was ended, by a sandbox. For any thread.
bool packer_is_gone();
// While it lives the calling thread, who makes the log, is in calls that its file system may hold
// up.
class StorageCall {
 public:
  StorageCall();
  ~StorageCall();
  StorageCall(const StorageCall&) = delete;
  StorageCall& operator=(const StorageCall&) = delete;
};
// Of the packer's own: 1, or 0 where the helper packs; and those that share its work, as soon as
// they run and as long as they do.
std::uint32_t packer_threads();
// For a thread of the program that finds no chunk: packs a part of what waits. False: there is
// nothing to do now. Calls the system at its end only.
bool assist_packing();
// Those that share its work end. For the helper and the packer.
void dismiss_assistants();
// How many chunks are to be ready; a drained log gives the memory of more back.
void set_ready_target(std::size_t chunks);

// Packs all that was recorded, and writes a page that says it is all: closed. What could not be
// written stays in the file of chunks, or is counted as dropped where there is none. Where the
// packer has a thread of its own, that does it, when it is waited for.
void stop_packer();
// The same where the helper has left: all that is not packed is in the file of chunks, so a mapped
// log is closed by a store. One that is drained stays open, as its file was. On any thread.
void close_without_helper();
// Returns when that is done, or when EndWait gives up: then the log stays open. For the thread that
// ends the process.
void wait_for_packer(std::uint64_t end_begun_ns);

}  // namespace uctrace::log
