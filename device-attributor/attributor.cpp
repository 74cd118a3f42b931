#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

MemoryId Attributor::memory_of(std::uintptr_t address) {
  Interval known{};
  if (cache_.find(address, known)) {
    if (known.trusted || is_still_there(known, address)) {
      return known.memory;
    }
    cache_.forget(known.begin, known.end, [this](const Interval& gone) {
      listener().ended(gone.memory, MemoryEnd::replaced);
    });
  }
  return ask(address);
}

MemoryId Attributor::ask(std::uintptr_t address) {
  listener().asked();
  const Answer answer = vendor_->query(address);
  if (answer.what == Answer::What::host) {
    return log::kHostMemory;
  }
  if (answer.what == Answer::What::failed) {
    listener().failed(answer.error);
    return log::kUnknownMemory;
  }
  const MemoryId memory = next_.fetch_add(1, std::memory_order_relaxed);
  if (answer.bytes == 0) {
    listener().defined(memory, answer);
    return memory;
  }
  const Interval interval{answer.begin, answer.begin + answer.bytes, answer.buffer_id, memory,
                          is_trusted(answer)};
  const MemoryId kept = cache_.insert(interval, [this](const Interval& gone) {
    listener().ended(gone.memory, MemoryEnd::replaced);
  });
  if (kept == memory) {
    listener().defined(memory, answer);
    // It may have been freed since it was asked for. Then its end was told before it was kept, or
    // is told after this.
    if (interval.trusted && !is_trusted(answer)) {
      forget(answer.begin, answer.bytes);
    }
  } else if (kept == log::kMemoryNotAsked) {
    // Nobody will see its end: no other operation may take itself to be in it.
    Answer alone = answer;
    alone.bytes = 0;
    listener().defined(memory, alone);
    return memory;
  }
  return kept;
}

// What has no id cannot be told from what is there next.
bool Attributor::is_still_there(const Interval& known, std::uintptr_t address) const {
  return known.buffer_id != 0 && vendor_->buffer_id(address) == known.buffer_id;
}

std::uintptr_t Attributor::end_of(std::uintptr_t address) const {
  Interval known{};
  return cache_.find(address, known) ? known.end : 0;
}

bool Attributor::is_trusted(const Answer& answer) const {
  if (answer.kind != DeviceMemoryKind::device && answer.kind != DeviceMemoryKind::managed) {
    return false;
  }
  for (const Range& range : announced_) {
    if (range.begin.load(std::memory_order_acquire) == answer.begin &&
        range.end.load(std::memory_order_relaxed) >= answer.begin + answer.bytes) {
      return true;
    }
  }
  return false;
}

MemoryId Attributor::allocated(Interval interval) {
  interval.memory = next_.fetch_add(1, std::memory_order_relaxed);
  interval.trusted = true;
  return cache_.insert(interval, [this](const Interval& gone) {
    listener().ended(gone.memory, MemoryEnd::replaced);
  });
}

void Attributor::announce(std::uintptr_t begin, std::size_t bytes) {
  // What the history tells of comes to UCX later, inside the same call of the program.
  if (Interval known{}; cache_.find(begin, known, IntervalCache::kPatience) &&
                        known.allocated_tick != 0 && known.begin == begin &&
                        known.end >= begin + bytes) {
    return;
  }
  forget(begin, bytes);  // what was there before ended without a word
  Range& range = announced_[announcements_.fetch_add(1, std::memory_order_relaxed) % kAnnounced];
  range.begin.store(0, std::memory_order_relaxed);
  range.end.store(begin + bytes, std::memory_order_release);
  range.begin.store(begin, std::memory_order_release);
}

bool Attributor::forget(std::uintptr_t begin, std::size_t bytes) {
  for (Range& range : announced_) {
    std::uintptr_t there = range.begin.load(std::memory_order_relaxed);
    if (there != 0 && there < begin + bytes && begin < range.end.load(std::memory_order_relaxed)) {
      range.begin.compare_exchange_strong(there, 0, std::memory_order_acq_rel);
    }
  }
  return cache_.forget(begin, begin + bytes, [this](const Interval& gone) {
    listener().ended(gone.memory, MemoryEnd::freed);
  });
}

void Attributor::start_anew() {
  cache_.clear();
  for (Range& range : announced_) {
    range.begin.store(0, std::memory_order_relaxed);
  }
}

}  // namespace uctrace::gpu
