// Makes the files of this process's log: the log and, if it is mapped, the file of the chunks that
// threads record into. Used by one thread at a time: the helper, or the thread that starts the log
// if there can be no helper. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// The open log. `grows` is false for a log of counters only: the one in UCTRACE_FALLBACK_DIR, made
// if UCTRACE_DIR cannot be written, and that of a process without a helper. Such a log says how
// much was dropped and why.
struct OutputLog {
  int fd = -1;
  bool grows = false;
  Storage storage = Storage::unknown;
  ProcessPage* page = nullptr;
  char path[4096] = {};
  // Of a mapped log: the file of its chunks, and the folder of both, even if it was renamed.
  int live_fd = -1;
  int folder_fd = -1;
  std::uint64_t live_bytes = 0;
  // The final page will be written. Without a helper, and so without system calls after the start,
  // it reaches the file only if that is mapped.
  bool has_writer = true;
  // The chunks are in the log itself, after its page: there is no helper to remove their file.
  bool chunks_in_log = false;
};

// Creates the file and its filled-in ProcessPage, mapped or in memory. fd < 0: neither folder can
// be written, errno says why.
OutputLog create_output_log();

// A log of counters only, because of `reason`: in UCTRACE_FALLBACK_DIR if that responds, else in
// UCTRACE_DIR if that can be expected to respond. For the program's own thread.
OutputLog create_counters_log(int reason);
// In UCTRACE_FALLBACK_DIR only; `page` continues there.
OutputLog create_fallback_log(const ProcessPage& page, int reason);

// Writes the page of a log whose file is not kept open. Does nothing if the file is gone.
void rewrite_page(const char* path, const ProcessPage& page);

// Maps a part of a file for good: allocated, filled with zeros, touched. nullptr with errno set if
// there is no room.
void* map_file(int fd, std::uint64_t offset, std::size_t bytes);
// Room for chunks, `bytes` of zeros, faulted in; nullptr with errno set if there is no room.
void* make_chunk_memory(OutputLog& file, std::size_t bytes);

// The file of chunks begins with unused room. On a full disk it is released for the first block, so
// that the rest can be packed at the end.
inline constexpr std::uint64_t kLiveReserve = kMinChunkBytes;
// Returns room in the middle of the file of chunks to the file system.
void punch_live_file(const OutputLog& file, std::uint64_t offset, std::uint64_t bytes);

// Detaches the page of a mapped log, or a table of lanes, from its file for good: later counts no
// longer reach the file. False with errno set: nothing was done.
bool freeze_memory(void* memory, std::size_t bytes);

// Removes the file of chunks, which is no longer needed.
void remove_live_file(const OutputLog& file);
// Removes all of the log.
void remove_output_log(const OutputLog& file);

// Whether the file was removed. Calls the file system.
bool is_removed(const OutputLog& file);

// Closes the file properly. Its owner may write to it again: a mapped log is write-protected while
// it grows, because truncating it would be a SIGBUS for the program.
void release_output_log(const OutputLog& file);

// Writes all `bytes` at `offset`. Returns how many were written; fewer: errno says why.
std::size_t write_at(int fd, const void* data, std::size_t bytes, std::uint64_t offset);

// False: there are not as many bytes at `offset`, or they cannot be read.
bool read_at(int fd, void* data, std::size_t bytes, std::uint64_t offset);

// The file system does not support it, or a sandbox forbids it.
bool is_refused(int error);

// Anonymous memory, faulted in; nullptr if the system has none.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

}  // namespace uctrace::log
