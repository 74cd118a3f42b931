// Makes and grows the log file of this process. Used by one thread at a time: the helper, or the
// thread that starts the log where there can be no helper. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/records.hpp"

namespace uctrace::log {

// The open log. `grows` is false for a log of counters only: the one in UCTRACE_FALLBACK_DIR, which
// is made where UCTRACE_DIR cannot be written, and that of a process without a helper. It says how
// much was dropped and why.
struct OutputLog {
  int fd = -1;
  bool grows = false;
  Storage storage = Storage::unknown;
  std::uint64_t bytes = 0;  // handed out; a drained file may be shorter yet
  ProcessPage* page = nullptr;
  char path[4096] = {};
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

// Makes room for `bytes` more of the file, zeroed and faulted in; nullptr with errno set if there
// is none. Where the file is mapped the order matters: blocks are allocated before they are mapped,
// because storing into a hole of a full disk is a SIGBUS for the program.
void* grow_output_log(OutputLog& file, std::size_t bytes);

void trim_output_log(OutputLog& file, std::uint64_t end);

// Nobody can find the file any more: it was removed. Calls the file system.
bool is_removed(const OutputLog& file);

// Ends the file in an orderly way. Its owner may write to it again: a mapped log is write-protected
// while it grows, because cutting it short would be a SIGBUS for the program.
void release_output_log(const OutputLog& file);

// Writes all `bytes` at `offset`. Returns how many were written; fewer: errno says why.
std::size_t write_at(int fd, const void* data, std::size_t bytes, std::uint64_t offset);

// Anonymous memory, faulted in; nullptr if the system has none.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

}  // namespace uctrace::log
