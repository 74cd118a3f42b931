#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

namespace {

// For memory that is mapped, registered or part of a pool, nothing guarantees that its id is
// unique.
bool has_own_id(DeviceMemoryKind kind) {
  return kind == DeviceMemoryKind::device || kind == DeviceMemoryKind::managed;
}

// If the driver does not tell the extent, only this address is known.
Interval interval_of(std::uintptr_t address, const Answer& answer) {
  const bool whole = answer.bytes != 0;
  return {.begin = whole ? answer.begin : address,
          .end = whole ? answer.begin + answer.bytes : address + 1,
          .buffer_id = answer.buffer_id,
          .memory = log::kMemoryNotAsked,
          .kind = answer.kind,
          .vendor = answer.vendor,
          .device = static_cast<std::int16_t>(answer.device)};
}

}  // namespace

MemoryId Attributor::find(std::uintptr_t address, Interval& found) {
  if (!cache_.find(address, found)) {
    found = {};
    return ask(address, nullptr, found);
  }
  if (found.is_of_history()) {
    return found.memory;
  }
  if (found.buffer_id != 0 && has_own_id(found.kind)) {
    listener().asked();
    std::uint64_t id = 0;
    const Vendor* vendor = vendors_[place_of(found.vendor)].load(std::memory_order_acquire);
    if (const int error = vendor->buffer_id(address, id); error != 0) {
      found = {};
      return fail(error);
    }
    if (id == found.buffer_id) {
      return found.memory;
    }
  }
  const Interval known = found;
  found = {};
  return ask(address, &known, found);
}

// A driver that does not answer has not said that any memory is gone.
MemoryId Attributor::fail(int error) {
  listener().failed(error);
  return log::kUnknownMemory;
}

// Asks all drivers until one knows the address. If one failed, the memory may be its own.
Answer Attributor::query(std::uintptr_t address) const {
  Answer answer{.what = Answer::What::host};
  for (const std::atomic<const Vendor*>& place : vendors_) {
    const Vendor* vendor = place.load(std::memory_order_acquire);
    if (vendor == nullptr) continue;
    Answer told = vendor->query(address);
    told.vendor = vendor->name;
    if (told.what == Answer::What::known) return told;
    if (told.what == Answer::What::failed) answer = told;
  }
  if (answer.what == Answer::What::host && distrusts_host_.load(std::memory_order_relaxed)) {
    return {.what = Answer::What::failed, .error = kUnusableDriver};
  }
  return answer;
}

MemoryId Attributor::ask(std::uintptr_t address, const Interval* known, Interval& found) {
  listener().asked();
  Answer answer = query(address);
  if (answer.what == Answer::What::failed) {
    return fail(answer.error);
  }
  if (answer.what == Answer::What::host) {
    if (known != nullptr) {
      cache_.forget_one(*known, [this](const Interval& gone) { end_replaced(gone); });
    }
    return log::kHostMemory;
  }
  if (address - answer.begin >= answer.bytes || answer.begin + answer.bytes < answer.begin) {
    answer.bytes = 0;
  }
  found = interval_of(address, answer);
  if (known != nullptr && known->is_like(found)) {
    found.memory = known->memory;
    return found.memory;
  }
  // Told by the history meanwhile, or not found because another thread was changing the table.
  if (Interval told{}; known == nullptr && cache_.find(address, told) && told.is_of_history()) {
    found = told;
    return found.memory;
  }
  found.memory = next_.fetch_add(1, std::memory_order_relaxed);
  return keep(found, answer);
}

void Attributor::make_room(const Interval& gone, const Interval& for_this) {
  end_replaced(gone);
  if (gone.is_of_history() && !gone.overlaps(for_this.begin, for_this.end)) {
    listener().gave_up_history();
  }
}

MemoryId Attributor::keep(const Interval& found, const Answer& answer) {
  const MemoryId kept = cache_.insert(found, [&](const Interval& gone) { make_room(gone, found); });
  if (kept != found.memory && kept != log::kMemoryNotAsked) {
    return kept;
  }
  return define(found, answer, kept == found.memory);
}

// Nobody will see the end of memory that is not kept: no other operation may count as inside it.
MemoryId Attributor::define(const Interval& found, const Answer& answer, bool is_kept) {
  Answer told = answer;
  if (!is_kept) told.bytes = 0;
  if (told.bytes == 0 &&
      without_extent_.fetch_add(1, std::memory_order_relaxed) >= kMostWithoutExtent) {
    without_extent_.store(kMostWithoutExtent, std::memory_order_relaxed);
    if (is_kept) give_up(found);
    return fail(kTooManyWithoutExtent);
  }
  if (!listener().defined(found.memory, told)) {
    if (is_kept) give_up(found);
    return log::kUnknownMemory;
  }
  return found.memory;
}

std::uintptr_t Attributor::end_of(std::uintptr_t address) const {
  Interval known{};
  // Memory without an extent is known by one address only, not by its end.
  return cache_.find(address, known) && known.end - known.begin > 1 ? known.end : 0;
}

bool Attributor::is_same_place(std::uintptr_t one, std::uintptr_t other) const {
  Interval first{}, second{};
  return cache_.find(one, first) && cache_.find(other, second) && first.kind == second.kind &&
         first.vendor == second.vendor && first.device == second.device;
}

MemoryId Attributor::allocated(Interval interval) {
  interval.memory = next_.fetch_add(1, std::memory_order_relaxed);
  return cache_.insert(interval, [&](const Interval& gone) { make_room(gone, interval); });
}

bool Attributor::forget(std::uintptr_t begin, std::size_t bytes) {
  return cache_.forget(begin, begin + bytes, [this](const Interval& gone) {
    listener().ended(gone.memory, MemoryEnd::freed);
  });
}

}  // namespace uctrace::gpu
