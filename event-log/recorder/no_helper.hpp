// A log without a helper thread (UCTRACE_NO_HELPER=1), for programs that a sandbox would kill for a
// forbidden system call on any thread. After the start of the log, all memory and all room in the
// file exist that there will ever be: the log contains the page, chunks and slots of blocks, all
// mapped. A thread that leaves a chunk packs it by stores into the mapped file. Private to
// event-log/.
#pragma once

#include <cstdint>

namespace uctrace::log {

struct Helper;

// The default bound for blocks of events (UCTRACE_MAX_LOG).
inline constexpr std::uint64_t kMostWithoutHelper = 64 << 20;

// Whether the user wants this. Reads the environment.
bool wants_no_helper();

// Prepares all of that. Returns an errno, 0 = done. For the thread that prepares the log.
int prepare_packing_in_calls(Helper& helper);

// Packs retired chunks, unless another thread is doing so. No system call.
void pack_in_call();

// Packs the rest and marks the log as closed. No system call, bounded time.
void close_in_call();

}  // namespace uctrace::log
