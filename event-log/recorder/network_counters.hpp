// The counters of the host's network cards, from the kernel's files, when recording began and when
// the log is closed. The merger compares them with the recorded traffic.
//
// One process of a host reads for all: the one with local rank 0, or every process if no launcher
// tells. The helper reads, with its own files: by the end the program may be in a sandbox. Without
// a helper nothing is read.
#pragma once

namespace uctrace::log {

// Has the counters read and defines them: before the first operation of UCX, and at the end if they
// were read at the start. On the program's thread, which waits for the helper at most a second.
void define_network_counters_at_start();
void define_network_counters_at_end();

// For the helper, in each round: reads what was requested.
void serve_network_reading();

}  // namespace uctrace::log
