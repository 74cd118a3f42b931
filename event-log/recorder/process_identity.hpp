// Which process this is, what it may use and what its clock says. Private to event-log/.
#pragma once

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// Fills a zeroed page with all that is known before the first record. Reads /proc.
void fill_page(ProcessPage& page);

// How many threads the process has beside its main thread, once that has left it; 0 = it is still
// there, or it cannot be told. Reads /proc.
std::uint32_t threads_after_main();

// How much memory the recorder may take, in bytes. Where the address space is limited (RLIMIT_AS),
// an eighth of what is left of it: the rest is the program's. Reads /proc.
std::uint64_t memory_budget();

Clock choose_clock();
// The part of the page that names the clock which the process reads (clock_name()).
void fill_clock_name(ProcessPage& page);
Anchor take_anchor();
// How long the calling thread so far could have run and had no core, as the scheduler counts it.
// Where it does not, all the time there was.
std::uint64_t time_without_core_ns();

}  // namespace uctrace::log
