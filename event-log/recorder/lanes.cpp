#include "event-log/recorder/lanes.hpp"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {
namespace {

struct LaneTable {
  Lane* lanes;  // their threads' part
  FirstSlots* slots;
  LaneInfo* infos;  // the log's part
};

constinit Lane page_lanes[kPageLanes]{};
constinit FirstSlots page_slots[kPageLanes]{};
// A fork child keeps this: slots of its parent's operations stay theirs.
constinit bool page_slots_lent[kPageLanes]{};
constinit LaneTable tables[1 + kMostLaneTables]{};
constinit std::atomic<std::uint32_t> table_count{0};
constinit std::atomic<std::uint32_t> free_lanes{0};  // so no thread searches in vain

struct LanePlace {
  std::size_t table, index;
};
LanePlace place_of(std::size_t lane) {
  if (lane < kPageLanes) {
    return {0, lane};
  }
  return {1 + (lane - kPageLanes) / kTableLanes, (lane - kPageLanes) % kTableLanes};
}

Lane& lane_at(std::size_t lane) {
  const LanePlace place = place_of(lane);
  return tables[place.table].lanes[place.index];
}

bool claim(std::size_t index, std::uint32_t from) {
  LaneInfo* info = lane_info(index);
  return __atomic_compare_exchange_n(&info->state, &from, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

void start_lane(Lane& lane, std::size_t index) {
  lane.index = static_cast<std::uint16_t>(index);
  lane.info = lane_info(index);
  start_counting_in(lane);
  for (Id& id : lane.next_id) {
    id = make_id(index, 0);
  }
  begin_recording(lane);
}

Lane* claim_free_lane() {
  if (free_lanes.load(std::memory_order_relaxed) == 0) {
    return nullptr;
  }
  const std::size_t used = lanes_used();
  for (std::size_t i = 0; i < used; ++i) {
    if (claim(i, 2)) {
      free_lanes.fetch_sub(1, std::memory_order_relaxed);
      return &lane_at(i);
    }
  }
  return nullptr;
}

Lane* claim_new_lane() {
  ProcessPage* page = pool.page;
  const std::size_t there = lanes_there();
  for (std::size_t i = lanes_used(); i < there; ++i) {
    if (claim(i, 0)) {
      start_lane(lane_at(i), i);
      std::uint32_t seen = __atomic_load_n(&page->lanes_used, __ATOMIC_RELAXED);
      while (seen < i + 1 && !__atomic_compare_exchange_n(&page->lanes_used, &seen,
                                                          static_cast<std::uint32_t>(i + 1), false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
      }
      return &lane_at(i);
    }
  }
  return nullptr;
}

}  // namespace

void start_lanes(ProcessPage* page) {
  memset(static_cast<void*>(page_lanes), 0, sizeof page_lanes);
  free_lanes.store(0, std::memory_order_relaxed);
  auto* infos = reinterpret_cast<LaneInfo*>(reinterpret_cast<char*>(page) + kLanesOffset);
  tables[0] = {page_lanes, page_slots, infos};
  table_count.store(1, std::memory_order_release);
}

void add_lanes(Lane* lanes, FirstSlots* slots, LaneInfo* infos) {
  const std::uint32_t count = table_count.load(std::memory_order_relaxed);
  tables[count] = {lanes, slots, infos};
  table_count.store(count + 1, std::memory_order_release);
  end_shortage(pool.lanes);
}

Slot* lend_first_slots(std::size_t lane) {
  if (lane < kPageLanes && std::exchange(page_slots_lent[lane], true)) {
    return nullptr;
  }
  const LanePlace place = place_of(lane);
  FirstSlots& slots = tables[place.table].slots[place.index];
  for (std::size_t i = 0; i + 1 < kFirstSlots; ++i) {
    slots[i].next = &slots[i + 1];
  }
  return slots;
}

std::size_t lanes_there() {
  const std::size_t count = table_count.load(std::memory_order_acquire);
  return count == 0 ? 0 : kPageLanes + (count - 1) * kTableLanes;
}

std::size_t lanes_used() {
  const std::size_t used = __atomic_load_n(&pool.page->lanes_used, __ATOMIC_ACQUIRE);
  return std::min(used, lanes_there());
}

Lane& lane_of_number(std::size_t index) { return lane_at(index); }

LaneInfo* lane_info(std::size_t index) {
  const LanePlace place = place_of(index);
  return &tables[place.table].infos[place.index];
}

Lane* claim_ready_lane() {
  Lane* lane = claim_free_lane();
  return lane != nullptr ? lane : claim_new_lane();
}

Lane* claim_lane() {
  FirstWait first(pool.lanes);
  for (;;) {
    const std::uint32_t seen = pool.made.load(std::memory_order_acquire);
    if (Lane* lane = claim_ready_lane()) {
      return lane;
    }
    if (!first.wait(seen)) {
      break;
    }
  }
  take_back_dead_lanes();  // the helper does this periodically: many may have ended since
  return claim_free_lane();
}

void give_back_lane(Lane* lane) {
  LaneInfo* info = lane->info;
  __atomic_store_n(&info->tid, 0, __ATOMIC_RELAXED);
  free_lanes.fetch_add(1, std::memory_order_relaxed);
  __atomic_store_n(&info->state, 2, __ATOMIC_RELEASE);
}

void take_back_dead_lanes() {
  const int saved_errno = errno;
  const std::size_t used = lanes_used();
  for (std::size_t i = 0; i < used; ++i) {
    LaneInfo* info = lane_info(i);
    std::uint32_t tid = __atomic_load_n(&info->tid, __ATOMIC_RELAXED);
    const bool dead = __atomic_load_n(&info->state, __ATOMIC_ACQUIRE) == 1 && tid != 0 &&
                      syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
    // Several threads may look at once: the lane is given back by the one that clears the id.
    if (dead && __atomic_compare_exchange_n(&info->tid, &tid, 0, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
      free_lanes.fetch_add(1, std::memory_order_relaxed);
      __atomic_store_n(&info->state, 2, __ATOMIC_RELEASE);
    }
  }
  errno = saved_errno;
}

// The thread may return from the call, or begin the next one, at the same time: that one then began
// about now.
void date_shown_calls() {
  const std::size_t used = lanes_used();
  for (std::size_t i = 0; i < used; ++i) {
    CurrentCall& shown = lane_info(i)->current_call;
    const auto* head = reinterpret_cast<const std::uint64_t*>(&shown.head);
    std::uint64_t unknown = 0;
    if (__atomic_load_n(head, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&shown.start_tick, __ATOMIC_RELAXED) == unknown) {
      __atomic_compare_exchange_n(&shown.start_tick, &unknown, now(), false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
    }
  }
}

std::uint16_t count_other_threads() {
  std::uint16_t count = 0;
  const std::size_t used = lanes_used();
  for (std::size_t i = 0; i < used; ++i) {
    count += &lane_at(i) != detail::thread_lane.lane &&
             __atomic_load_n(&lane_info(i)->state, __ATOMIC_ACQUIRE) == 1;
  }
  return count;
}

}  // namespace uctrace::log
