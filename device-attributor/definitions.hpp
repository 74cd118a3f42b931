// What the log says of drivers, devices and their memory. Private to this room.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

// The number of a device in the log, and in counters; 0: it is not there.
std::uint16_t defined_number(log::Vendor vendor, int ordinal);

// A driver that is asked, in this process's log. It was not there at `not_before_tick`. False:
// the log has no room just now.
bool define_driver(const Vendor& vendor, std::uint64_t not_before_tick);

// The devices of all drivers that are in the log, as far as they tell of them by now: none before
// the program initialises them.
void define_devices();

// The devices that only the history has named so far.
void define_missing_devices();

// An allocation of the history. Asks nothing. False: the log has no room.
bool define_allocated(const Interval& allocation);

// That the memory was found where it was, at this moment.
void note_use(MemoryId memory);

// Defines allocations as they are met, and their ends.
extern const Listener kListener;

// Where no events are recorded nobody refers to allocations: it defines devices alone, or the log
// of a long job would grow with each.
extern const Listener kCountingListener;

}  // namespace uctrace::gpu
