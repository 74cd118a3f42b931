// What the network cards of the host counted, by the kernel's files, when recording began and when
// the log is closed: beside it the merger sets what was recorded.
//
// One process of a host reads for all: the one that its launcher numbers 0 there, or each one where
// no launcher tells. The helper reads, on files of its own: the program may have put itself into a
// sandbox by the end. Without a helper nothing is read.
#pragma once

namespace uctrace::log {

// Has the counters read and defines them: before the first operation of UCX, and at the end if they
// were read at the start. On the program's thread, which waits for the helper, a second at most.
void define_network_counters_at_start();
void define_network_counters_at_end();

// Of the helper, at each of its rounds: reads what was asked for.
void serve_network_reading();

}  // namespace uctrace::log
