#include "call-stacks/stack_numbers.hpp"

#include <string.h>

#include <atomic>

namespace uctrace::stacks {
namespace {

// Keyed by the hash of the addresses. Two stacks with the same hash count as one: with 12,000
// stacks, as many as fit here, that happens in one process of 10^11.
struct Entry {
  std::atomic<std::uint64_t> hash;  // 0: free
  std::atomic<std::uint32_t> number;
};
constexpr std::size_t kEntries = 16384;  // a power of two
constexpr std::size_t kMaxTaken = kEntries / 4 * 3;
constinit Entry entries[kEntries]{};
constinit std::atomic<std::uint32_t> taken{0};
constinit std::atomic<std::uint32_t> last_number{0};

std::uint64_t hash_of(std::span<const std::uint64_t> addresses, std::uint64_t seed) {
  std::uint64_t hash = seed * 0x9e3779b97f4a7c15U;
  for (const std::uint64_t address : addresses) {
    hash = (hash ^ address) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  }
  return hash != 0 ? hash : 1;
}

// The entry of this hash, claimed now if it is new; nullptr: the table is full.
Entry* entry_of(std::uint64_t hash) {
  for (std::size_t at = hash % kEntries;; at = (at + 1) % kEntries) {
    Entry& entry = entries[at];
    std::uint64_t there = entry.hash.load(std::memory_order_acquire);
    if (there == hash) return &entry;
    if (there != 0) continue;
    if (taken.load(std::memory_order_relaxed) >= kMaxTaken) return nullptr;
    if (entry.hash.compare_exchange_strong(there, hash, std::memory_order_acq_rel)) {
      taken.fetch_add(1, std::memory_order_relaxed);
      return &entry;
    }
    if (there == hash) return &entry;
  }
}

bool define(log::Lane& lane, std::uint32_t number, std::span<const std::uint64_t> addresses,
            std::uint16_t flags) {
  auto* record = lane.define<log::Stack>(addresses.size_bytes());
  if (record == nullptr) return false;
  record->tick = log::now();
  memcpy(record + 1, addresses.data(), addresses.size_bytes());
  log::publish(record, log::RecordType::stack, sizeof *record / 8 + addresses.size(), flags,
               number);
  return true;
}

}  // namespace

std::uint32_t number_of(log::Lane& lane, std::span<const std::uint64_t> addresses,
                        std::uint16_t flags, std::uint32_t generation) {
  Entry* entry = entry_of(hash_of(addresses, generation));
  if (entry != nullptr) {
    const std::uint32_t known = entry->number.load(std::memory_order_acquire);
    if (known != 0) return known;
  }
  const std::uint32_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!define(lane, number, addresses, flags)) return 0;
  if (entry != nullptr) entry->number.store(number, std::memory_order_release);
  return number;
}

void forget_numbers() {
  for (Entry& entry : entries) {
    entry.hash.store(0, std::memory_order_relaxed);
    entry.number.store(0, std::memory_order_relaxed);
  }
  taken.store(0, std::memory_order_relaxed);
  last_number.store(0, std::memory_order_relaxed);
}

}  // namespace uctrace::stacks
