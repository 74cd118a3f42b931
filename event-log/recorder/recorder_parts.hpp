// What the files of the recorder tell each other: recorder.cpp, slots.cpp, process_facts.cpp.
#pragma once

#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

// Whether this process records; false in a fork child until it starts a log of its own.
inline bool armed_now() { return detail::generation() != 0; }

// Whether this process has closed its log: destructors of the program may run after ours, and its
// other threads go on. What they do is not recorded, and no second log begins.
bool has_ended();

// Whether another process loaded this library. Calls no system, as a sandbox may forbid it.
bool is_fork_child();

// Those that come with the lane of a thread (lanes.hpp), before it goes into UCX: it is the first
// to touch their memory.
void give_first_slots(Lane& lane);
// A fork child has no right to what its parent's threads gave back.
void forget_slots();

// What the log says of the process when it begins. Reads /proc.
void define_process();
// A part of it: its settings (process_settings.cpp).
void define_settings();

}  // namespace uctrace::log
