// Defines drivers, devices and their memory in the log. Private to this room.
#pragma once

#include "device-attributor/attributor.hpp"

namespace uctrace::gpu {

// The number of a device in the log and in counters; 0: not defined.
std::uint16_t defined_number(log::Vendor vendor, int ordinal);

// Defines a driver that is asked. It was not loaded yet at `not_before_tick`. False: the log has no
// room just now.
bool define_driver(const Vendor& vendor, std::uint64_t not_before_tick);

// Defines the devices of all drivers in the log. A driver tells its devices only after the program
// has initialised it.
void define_devices();

// Defines devices that only the history has named so far.
void define_missing_devices();

// Defines an allocation of the history. Asks nothing. False: the log has no room.
bool define_allocated(const Interval& allocation);

// Notes that the memory was seen alive at this moment.
void note_use(MemoryId memory);

// Defines allocations when first seen, and their ends.
extern const Listener kListener;

// For jobs that are only counted: defines devices alone. No event refers to allocations, and the
// log of a long job would grow with each.
extern const Listener kCountingListener;

}  // namespace uctrace::gpu
