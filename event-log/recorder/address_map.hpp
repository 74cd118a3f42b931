// Facts about live objects by their address, on the record path: a fixed table with open addressing
// and a bounded probe. Entries are claimed and freed by one atomic each, so threads may work on
// different keys at the same time; a key belongs to one thread at a time (its library serialises
// it). When no place is near, the fact is not kept: callers treat that as "not known".
// A freed place keeps a mark, so a search ends at the first place that was never used: the usual
// answer, "not there", costs one or two looks. Constant-initialised; lives in .bss, so untouched
// parts cost no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace uctrace::log {

template <typename Value, std::size_t kPlaces>
class AddressMap {
  static_assert((kPlaces & (kPlaces - 1)) == 0);

 public:
  struct Entry {
    std::atomic<const void*> key;
    Value value;
  };

  Entry* find(const void* key) {
    for (std::size_t i = 0, at = home_of(key); i < kProbes; ++i, at = (at + 1) % kPlaces) {
      const void* const there = entries_[at].key.load(std::memory_order_acquire);
      if (there == key) {
        return &entries_[at];
      }
      if (there == nullptr) {
        return nullptr;
      }
    }
    return nullptr;
  }

  // The entry of `key`, made if there is none; a stale one of a freed object is taken over.
  Entry* claim(const void* key) {
    if (Entry* known = find(key)) {
      return known;
    }
    for (std::size_t i = 0, at = home_of(key); i < kProbes; ++i, at = (at + 1) % kPlaces) {
      const void* empty = entries_[at].key.load(std::memory_order_relaxed);
      if ((empty == nullptr || empty == freed()) &&
          entries_[at].key.compare_exchange_strong(empty, key, std::memory_order_acq_rel)) {
        return &entries_[at];
      }
    }
    return nullptr;
  }

  // Frees the entry of `key`. False: another thread did; two threads may end the same object.
  static bool take(Entry* entry, const void* key) {
    return entry->key.compare_exchange_strong(key, freed(), std::memory_order_acq_rel);
  }

  static void free(Entry* entry) { entry->key.store(freed(), std::memory_order_release); }

 private:
  static constexpr std::size_t kProbes = 16;
  // No object has this address.
  static const void* freed() { return reinterpret_cast<const void*>(std::uintptr_t{1}); }

  static std::size_t home_of(const void* key) {
    const std::uint64_t mixed = (reinterpret_cast<std::uintptr_t>(key) >> 3) * 0x9E3779B97F4A7C15u;
    return (mixed >> 32) % kPlaces;
  }

  Entry entries_[kPlaces]{};
};

}  // namespace uctrace::log
