// How long the log's file system delays the writing thread, so that threads that find no chunk know
// the cause.
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

StorageCall::StorageCall() {
  if (packer != nullptr) {
    packer->write_begun.store(monotonic_raw_ns(), std::memory_order_relaxed);
  }
}
StorageCall::~StorageCall() {
  if (packer == nullptr) {
    return;
  }
  packer->write_begun.store(0, std::memory_order_relaxed);
  // A helper that returns from a storage call is not gone.
  if (packer->is_mapped()) {
    pool.next_look_ns.store(monotonic_raw_ns() + kGoneNs, std::memory_order_relaxed);
  }
}

namespace {

// How long the current call has taken so far; 0 = there is none.
std::uint64_t time_in_storage() {
  if (packer == nullptr) {
    return 0;
  }
  const std::uint64_t begun = packer->write_begun.load(std::memory_order_relaxed);
  return begun != 0 ? monotonic_raw_ns() - begun : 0;
}

}  // namespace

bool storage_is_slow() {
  if (packer == nullptr) {
    return false;
  }
  const ProcessPage* page = packer->file.page;
  return __atomic_load_n(&page->writing_ns, __ATOMIC_RELAXED) + time_in_storage() >
         __atomic_load_n(&page->packing_ns, __ATOMIC_RELAXED);
}

bool waits_for_storage(std::uint64_t for_ns) { return time_in_storage() > for_ns; }

}  // namespace uctrace::log
