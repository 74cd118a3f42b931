// Makes the files of this process's log: the log, and beside it, where the log is mapped, the file
// of the chunks that threads record into. Used by one thread at a time: the helper, or the thread
// that starts the log where there can be no helper. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// The open log. `grows` is false for a log of counters only: the one in UCTRACE_FALLBACK_DIR, which
// is made where UCTRACE_DIR cannot be written, and that of a process without a helper. It says how
// much was dropped and why.
struct OutputLog {
  int fd = -1;
  bool grows = false;
  Storage storage = Storage::unknown;
  ProcessPage* page = nullptr;
  char path[4096] = {};
  // Of a mapped log: the file of its chunks, and the folder of both, by whatever name it has now.
  int live_fd = -1;
  int folder_fd = -1;
  std::uint64_t live_bytes = 0;
  // What the page says at the end is written. Without a helper, and without system calls once the
  // log has begun, it is in the file only where that is mapped.
  bool has_writer = true;
  // The chunks lie in the log itself, behind its page: there is no helper to remove their file.
  bool chunks_in_log = false;
};

// Creates the file and its filled-in ProcessPage, mapped or in memory. fd < 0: neither folder can
// be written, errno says why.
OutputLog create_output_log();

// A log of counters alone, because of `reason`: in UCTRACE_FALLBACK_DIR, which answers, else in
// UCTRACE_DIR if that can be expected to. For the program's own thread.
OutputLog create_counters_log(int reason);
// In UCTRACE_FALLBACK_DIR only, where `page` goes on.
OutputLog create_fallback_log(const ProcessPage& page, int reason);

// Writes the page of a log whose file is not kept open. Nothing happens if it is gone.
void rewrite_page(const char* path, const ProcessPage& page);

// Maps a part of a file for good: allocated, filled with zeros, touched. nullptr with errno set if
// there is no room.
void* map_file(int fd, std::uint64_t offset, std::size_t bytes);
// Room for chunks, `bytes` of zeros, faulted in; nullptr with errno set if there is no room.
void* make_chunk_memory(OutputLog& file, std::size_t bytes);

// The file of chunks begins with room that nothing is written to. On a full disk it is given up for
// the first block, so that the rest can be packed in the end.
inline constexpr std::uint64_t kLiveReserve = kMinChunkBytes;
// Gives room in the middle of the file of chunks back to the file system.
void punch_live_file(const OutputLog& file, std::uint64_t offset, std::uint64_t bytes);

// Takes the page of a mapped log, or a table of lanes, away from its file, for good: what threads
// count from here on is not in it any more. False with errno set: nothing was done.
bool freeze_memory(void* memory, std::size_t bytes);

// Removes the file of chunks: it is not needed any more.
void remove_live_file(const OutputLog& file);
// Removes all of the log.
void remove_output_log(const OutputLog& file);

// Nobody can find the file any more: it was removed. Calls the file system.
bool is_removed(const OutputLog& file);

// Ends the file in an orderly way. Its owner may write to it again: a mapped log is write-protected
// while it grows, because cutting it short would be a SIGBUS for the program.
void release_output_log(const OutputLog& file);

// Writes all `bytes` at `offset`. Returns how many were written; fewer: errno says why.
std::size_t write_at(int fd, const void* data, std::size_t bytes, std::uint64_t offset);

// False: there are not as many bytes at `offset`, or they cannot be read.
bool read_at(int fd, void* data, std::size_t bytes, std::uint64_t offset);

// What the file system cannot do, or a sandbox does not let a process do.
bool is_refused(int error);

// Anonymous memory, faulted in; nullptr if the system has none.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

}  // namespace uctrace::log
