// Gives a thread, or a new process, its own table of open files.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace uctrace::log {

namespace detail {

struct DirectoryEntry {  // as the kernel gives it
  std::uint64_t inode, offset;
  std::uint16_t bytes;
  unsigned char type;
  char name[];
};

// One pass over the open files; false once only `directory` is left.
inline bool close_some_files(int directory) {
  alignas(DirectoryEntry) char entries[4096];
  bool closed = false;
  lseek(directory, 0, SEEK_SET);
  for (long n; (n = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
      const int fd = entry->name[0] != '.' ? atoi(entry->name) : directory;
      closed |= fd != directory && close(fd) == 0;
      at += entry->bytes;
    }
  }
  return closed;
}

}  // namespace detail

// Gives the calling thread its own, empty table. Then the program cannot close our files by closing
// all of its own, nor reuse our numbers for files that we would then write to, and its own files
// really end when it closes them. A single call since Linux 5.9. False: the system allows neither
// way, and the table stays shared.
inline bool leave_open_files() {
#ifdef SYS_close_range
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  if (syscall(SYS_close_range, 0u, ~0u, kUnshare) == 0) {
    return true;
  }
#endif
  if (access("/proc/thread-self/fd", R_OK) != 0 || unshare(CLONE_FILES) != 0) {
    return false;
  }
  close(0);  // room for one file, whatever the program's limit is
  const int directory = open("/proc/thread-self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (directory >= 0 && detail::close_some_files(directory)) {
  }
  close(directory);
  return true;
}

}  // namespace uctrace::log
