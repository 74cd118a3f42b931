// Slots: how threads take and return them.
#include <atomic>

#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/recorder_parts.hpp"

namespace uctrace::log {

namespace {

// Pushed to, and taken as a whole, so no ABA. Not in the cache lines that every record reads.
alignas(128) constinit std::atomic<Slot*> returned_slots{nullptr};

// A lane keeps up to this many free slots, then gives half.
constexpr std::uint32_t kOwnSlots = 512;

constexpr std::uint8_t kHasOwnSlots = 4;  // a bit of Lane::waited, besides those of the streams

// The lane's list of free slots; in a signal handler that interrupts a change of the first list,
// its other one. None for a handler that interrupts such a handler.
class HeldSlots {
 public:
  explicit HeldSlots(Lane* lane) {
    if (lane == nullptr) {
      return;
    }
    list_ = !lane->slots[0].busy ? &lane->slots[0] : &lane->slots[1];
    if (list_->busy) [[unlikely]] {
      list_ = nullptr;
      return;
    }
    list_->busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~HeldSlots() {
    if (list_ != nullptr) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      list_->busy = false;
    }
  }
  HeldSlots(const HeldSlots&) = delete;
  HeldSlots& operator=(const HeldSlots&) = delete;

  SlotList* list() { return list_; }

 private:
  SlotList* list_ = nullptr;
};

void give_back(Slot* first, Slot* last) {
  Slot* head = returned_slots.load(std::memory_order_relaxed);
  do {
    last->next = head;
  } while (!returned_slots.compare_exchange_weak(head, first, std::memory_order_release,
                                                 std::memory_order_relaxed));
}

}  // namespace

void forget_slots() { returned_slots.store(nullptr, std::memory_order_relaxed); }

void give_first_slots(Lane& lane) {
  if ((__atomic_fetch_or(&lane.waited, kHasOwnSlots, __ATOMIC_RELAXED) & kHasOwnSlots) != 0) {
    return;
  }
  HeldSlots held(&lane);
  SlotList* list = held.list();
  if (list != nullptr && list->first == nullptr) {
    list->first = lend_first_slots(lane.index);
  }
}

namespace {

// For a lane without free slots: a chain of unknown length, or nullptr. A separate function, so
// that the usual case costs no more.
[[gnu::noinline, gnu::cold]] Slot* take_chain() {
  Slot* slots = returned_slots.exchange(nullptr, std::memory_order_acquire);
  slots = slots != nullptr ? slots : take_slab();
  return slots != nullptr || !pool.never_drops ? slots : wait_for_slab();
}

}  // namespace

Slot* acquire_slot(Lane& lane) {
  HeldSlots held(&lane);
  SlotList* list = held.list();
  Slot* slot = list != nullptr ? list->first : nullptr;
  if (slot == nullptr) [[unlikely]] {
    if (list == nullptr) {
      return nullptr;
    }
    slot = take_chain();
    if (slot == nullptr) {
      return nullptr;
    }
    list->count = 0;  // count what comes back from here on
  }
  list->first = slot->next;
  list->count -= list->count > 0;
  return slot;
}

void release_slot(Slot* slot, Lane* lane) {
  HeldSlots held(lane);
  SlotList* list = held.list();
  if (list == nullptr) {
    give_back(slot, slot);
    return;
  }
  slot->next = list->first;
  list->first = slot;
  if (++list->count < kOwnSlots) {
    return;
  }
  // A thread that only completes would hoard the slots that another one needs to post.
  Slot* last = slot;
  for (std::uint32_t i = 1; i < kOwnSlots / 2; ++i) {
    last = last->next;
  }
  list->first = last->next;
  list->count -= kOwnSlots / 2;
  give_back(slot, last);
}

}  // namespace uctrace::log
