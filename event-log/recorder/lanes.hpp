// The lanes that threads borrow: those of the process page, and those of the tables that the packer
// adds to the log before they are used up. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

// A table is added once fewer lanes than these are left.
inline constexpr std::size_t kLanesAhead = 64;

// The log begins: its lanes are those of `page`, and nobody has one.
void start_lanes(ProcessPage* page);
// The slots that a lane has before the helper gives it any: where many threads begin together the
// helper cannot have as much ready, and a thread that maps memory waits for all that do.
inline constexpr std::size_t kFirstSlots = 32;
using FirstSlots = Slot[kFirstSlots];

// Adds a table of kTableLanes. By one thread.
void add_lanes(Lane* lanes, FirstSlots* slots, LaneInfo* infos);
// Those of a lane, once. nullptr: they are lent, also to a thread of the process that this one was
// forked from.
Slot* lend_first_slots(std::size_t lane);

// How many there are, and how many of them were ever used.
std::size_t lanes_there();
std::size_t lanes_used();
// Of one that is there.
Lane& lane_of_number(std::size_t index);
LaneInfo* lane_info(std::size_t index);

// A lane of a thread that has ended, which goes on where that stopped, else a new one. May wait for
// the helper to add lanes, for a bounded time. nullptr: there are no more.
Lane* claim_lane();
// The same without waiting.
Lane* claim_ready_lane();
// Its thread has ended.
void give_back_lane(Lane* lane);
// Lends the lanes of threads that ended unseen to others. A system call for each lane that is in
// use.
void take_back_dead_lanes();

// Lanes that threads have, but for the calling one's.
std::uint16_t count_other_threads();

}  // namespace uctrace::log
