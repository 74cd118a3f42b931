#include "event-log/recorder/no_helper.hpp"

#include <errno.h>

#include "event-log/recorder/helper.hpp"
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/switched_on.hpp"

namespace uctrace::log {
namespace {

constexpr std::size_t kChunks = 64;
constexpr std::uint64_t kDefinitionSlots = 16;
constexpr std::uint64_t kCloseWaitNs = 2'000'000'000;

// The thread that packs: a lock that nobody waits for inside a call.
bool begin_packing() { return !packer->busy.exchange(true, std::memory_order_acquire); }
void end_packing() { packer->busy.store(false, std::memory_order_release); }

bool begin_packing_at_end() {
  const std::uint64_t give_up = monotonic_raw_ns() + kCloseWaitNs;
  while (!begin_packing()) {
    if (monotonic_raw_ns() > give_up) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool wants_no_helper() { return is_switched_on("UCTRACE_NO_HELPER"); }

int prepare_packing_in_calls(Helper& helper) {
  OutputLog& file = packer->file;
  helper.fill_chunks(kChunks);
  helper.fill_slabs(kReadySlabs);
  if (pool.ready_chunks.load(std::memory_order_relaxed) < kChunks) {
    return helper.file.page->write_errno != 0 ? static_cast<int>(helper.file.page->write_errno)
                                              : ENOMEM;
  }
  const std::uint64_t begin = kProcessPageBytes + helper.file.page->chunk_bytes;
  const std::uint64_t bytes = (packer->blocks.most_event_slots() + kDefinitionSlots) * kSlotBytes;
  if (!helper.within_budget(bytes)) {
    return ENOMEM;
  }
  void* memory = map_file(file.fd, begin, bytes);
  if (memory == nullptr) {
    return errno;
  }
  packer->blocks.start_in_memory(static_cast<unsigned char*>(memory), begin, bytes);
  file.page->allocated_bytes = begin;
  file.page->heartbeat_realtime_ns = 0;  // nobody refreshes it
  // This thread's table of open files ends with it.
  file.fd = file.live_fd = file.folder_fd = -1;
  return 0;
}

void pack_in_call() {
  if (!begin_packing()) {
    return;
  }
  const int saved_errno = errno;
  if (!pack_chunks(Chunks::retired)) {
    pool.chunks.cause.store(cause_of(packer_error()), std::memory_order_relaxed);
  }
  refresh_anchors(*packer->file.page);
  end_packing();
  errno = saved_errno;
}

// Threads still inside a call count in the page, which is in the file and cannot be detached from
// it without system calls.
void close_in_call() {
  if (!begin_packing_at_end()) {
    return;  // the log stays open, and is complete
  }
  ProcessPage* page = packer->file.page;
  refresh_anchors(*page);
  pack_all();  // records without room stay in their chunk, which is in the file
  __atomic_store_n(&page->closed, std::uint8_t{1}, __ATOMIC_RELEASE);
}

}  // namespace uctrace::log
