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
// The slots that a lane has before it gets any from the helper. If many threads begin together, the
// helper cannot have enough ready, and threads that map memory wait for each other.
inline constexpr std::size_t kFirstSlots = 32;
using FirstSlots = Slot[kFirstSlots];

// Adds a table of kTableLanes. Call it from one thread only.
void add_lanes(Lane* lanes, FirstSlots* slots, LaneInfo* infos);
// The first slots of a lane, once. nullptr: they are already lent, maybe to a thread of the parent
// process.
Slot* lend_first_slots(std::size_t lane);

// How many lanes there are, and how many were ever used.
std::size_t lanes_there();
std::size_t lanes_used();
// `index` must be below lanes_there().
Lane& lane_of_number(std::size_t index);
LaneInfo* lane_info(std::size_t index);

// The lane of a thread that has ended, continued where it stopped, else a new one. May wait a
// bounded time for the helper to add lanes. nullptr: there are no more.
Lane* claim_lane();
// The same without waiting.
Lane* claim_ready_lane();
// Its thread has ended.
void give_back_lane(Lane* lane);
// Frees the lanes of threads that ended unnoticed. Costs a system call for each lane in use.
void take_back_dead_lanes();

// Calls that are left out are shown without a start: those seen for the first time get it now.
void date_shown_calls();

// How many lanes are in use, without the caller's.
std::uint16_t count_other_threads();

}  // namespace uctrace::log
