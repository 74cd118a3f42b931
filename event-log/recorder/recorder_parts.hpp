// The interface between the recorder's files: recorder.cpp, slots.cpp, process_facts.cpp.
#pragma once

#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

// Whether this process records; false in a fork child until it starts its own log.
inline bool armed_now() { return detail::generation() != 0; }

// Whether this process has closed its log: destructors of the program may run after ours, and its
// other threads go on. Their events are not recorded, and no second log begins.
bool has_ended();

// Whether another process loaded this library. Makes no system call, because a sandbox may forbid
// it.
bool is_fork_child();

// Gives a thread the first slots of its lane (lanes.hpp) before it enters UCX: it is the first to
// touch their memory.
void give_first_slots(Lane& lane);
// A fork child must not use slots that its parent's threads returned.
void forget_slots();

// Writes the log's facts about the process at its beginning. Reads /proc.
void define_process();
// A part of it: its settings (process_settings.cpp).
void define_settings();

}  // namespace uctrace::log
