// The identity, limits and clock of this process. Private to event-log/.
#pragma once

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// Fills a zeroed page with all that is known before the first record. Reads /proc.
void fill_page(ProcessPage& page);

// How many threads the process has after its main thread has left; 0 = the main thread still runs,
// or this is not known. Reads /proc.
std::uint32_t threads_after_main();

// How much memory the recorder may take, in bytes. If the address space is limited (RLIMIT_AS), an
// eighth of what is left: the rest is for the program. Reads /proc.
std::uint64_t memory_budget();

Clock choose_clock();
// Fills the part of the page that names the process's clock (clock_name()).
void fill_clock_name(ProcessPage& page);
Anchor take_anchor();
// How long the calling thread was runnable without a core, as the scheduler counts it. If it does
// not count, all of the time.
std::uint64_t time_without_core_ns();

}  // namespace uctrace::log
