// A log without a helper thread (UCTRACE_NO_HELPER=1), for programs that a sandbox would kill if
// one of their threads called the system in a way that it forbids. When the program goes on after
// the start of the log, all memory and all room in the file that there will ever be is there: the
// log holds page, chunks and slots of blocks, all mapped. A thread that leaves a chunk packs it by
// stores into the mapped file. Private to event-log/.
#pragma once

#include <cstdint>

namespace uctrace::log {

struct Helper;

// What the blocks of events may take if the user says nothing (UCTRACE_MAX_LOG).
inline constexpr std::uint64_t kMostWithoutHelper = 64 << 20;

// What the user wants. Reads the environment.
bool wants_no_helper();

// Makes all of that ready. Returns why it cannot be, 0 = it is. For the thread that prepares the
// log.
int prepare_packing_in_calls(Helper& helper);

// Packs what was retired, unless somebody does already. No system call.
void pack_in_call();

// Packs the rest and says that the log is closed. No system call, bounded time.
void close_in_call();

}  // namespace uctrace::log
