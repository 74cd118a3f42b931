// Writes behind a log that is not mapped: copies the chunks that threads record into, and the
// process page, to the file. It has a thread of its own, so that a file system which is slow or
// does not answer holds up neither the job nor the helper, and a bound: what waits to be written
// takes at most kMostUndrained bytes, beyond which records are dropped and counted.
//
// The file is a readable log at any time, at most kDrainIntervalNs behind while its file system
// answers. The page is copied before the records it counts and written after them.
//
// Private to event-log/. The helper calls everything here but finish_drain().
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/output_log.hpp"

namespace uctrace::log {

inline constexpr std::size_t kMostUndrained = 64 << 20;
inline constexpr long kDrainIntervalNs = 500'000'000;
// How long the end of a process waits for a file system that takes nothing.
inline constexpr long kDrainStallNs = 5'000'000'000;

// What a fork child inherits is its parent's.
void forget_drain();

// Takes over the file. Where no further thread can be had the helper drains in between, by
// drain_turn(). False: there is no memory for it.
bool start_drain(const OutputLog& file);
bool has_drain_thread();
void drain_turn();

// Whether a chunk of this size may be made now; else errno says why not, 0 = too much waits.
bool drain_has_room(std::size_t bytes);
// Chunks that were made and not given back yet.
std::uint64_t drain_bytes();

// A chunk that threads may take from here on. It lies at file_end - bytes of the file.
void drain_add(ChunkHeader* chunk);
// Nobody writes to the chunk any more: it is written, and its memory given back.
void drain_retire(void* chunk);

// Writes all that was recorded, and a page that says it is all: closed, with what could not be
// written counted as dropped. Returns when that is done, or when the file system took nothing for
// kDrainStallNs: then the log stays open. For the thread that ends the process.
void finish_drain();

}  // namespace uctrace::log
