// The counter file of this process (event-log/format/counter_file.hpp): made and extended by the
// helper, which keeps tables for lanes and room for names ready. Private to event-log/.
//
// Mapped if the log is; else it is in memory, and the packer's thread copies it into the file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::log {

// Begins the file beside `log`, with its first tables. Before lanes are used; does nothing unless
// counters are wanted. If it cannot be made, all counts are unplaced, in no file; store_error()
// says why.
void make_counter_file(const OutputLog& log);
int counter_file_error();

// Adds missing tables and rooms for names. Returns how many bytes were added.
std::size_t extend_counters(std::size_t budget);
// Shows that the file is being updated: the time is CLOCK_REALTIME.
void give_counters_sign_of_life(std::uint64_t realtime_ns);

// Copies the counters into a drained file, if that is due. On the packer's thread.
void drain_counters();
// Writes the final numbers and marks them as final.
void close_counter_file();

void set_counter_world(std::int32_t rank, std::int32_t size);

// A new lane has no rows yet; it gets some at its first count, or here, when it may wait.
void start_counting_in(Lane& lane);
void take_first_rows(Lane& lane);

}  // namespace uctrace::log
