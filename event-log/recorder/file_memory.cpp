// Memory that maps a part of a file of the log, anonymous memory, and writing files without
// mapping.
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "event-log/recorder/output_log.hpp"

namespace uctrace::log {

namespace {

constexpr std::size_t kPageBytes = 4096;

// Direct calls: UCM patches the libc functions of the same names to watch the program's memory, and
// must not see ours.
void* raw_mmap(std::size_t bytes, int flags, int fd, std::uint64_t offset) {
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer forgets what was at this address, such as the stack of a thread that has ended,
  // only if it sees the call.
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
#else
  const long at = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
  return at == -1 ? nullptr : reinterpret_cast<void*>(at);
#endif
}

// Faults every page in for writing: MAP_POPULATE maps shared file pages read-only. False with errno
// set: a file system that copies on write has no room after all.
bool touch(void* memory, std::size_t bytes) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  if (syscall(SYS_madvise, memory, bytes, kPopulateWrite) == 0) {
    return true;
  }
  if (errno == EFAULT) {
    errno = ENOSPC;
    return false;
  }
  auto* at = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < bytes; i += kPageBytes) {
    at[i] = 0;
  }
  return true;
}

}  // namespace

// The order matters: storing into a hole of a full disk is a SIGBUS for the program. If allocating
// is refused, writing serves as well.
void* map_file(int fd, std::uint64_t offset, std::size_t bytes) {
  if (syscall(SYS_fallocate, fd, 0, offset, bytes) != 0 && !is_refused(errno)) {
    return nullptr;
  }
  // Written once even if the space is reserved: the first store to a page that is already dirty in
  // the page cache costs a fifth of one to a new page.
  static constinit const char zeros[64 * 1024] = {};
  for (std::size_t done = 0; done < bytes; done += sizeof zeros) {
    if (write_at(fd, zeros, sizeof zeros, offset + done) != sizeof zeros) {
      return nullptr;
    }
  }
  void* memory = raw_mmap(bytes, MAP_SHARED, fd, offset);
  if (memory == nullptr) {
    return nullptr;
  }
  if (!touch(memory, bytes)) {
    const int reason = errno;
    unmap_memory(memory, bytes);
    errno = reason;
    return nullptr;
  }
  // A fork child must not have it.
  syscall(SYS_madvise, memory, bytes, MADV_DONTFORK);
  return memory;
}

void punch_live_file(const OutputLog& file, std::uint64_t offset, std::uint64_t bytes) {
  constexpr int kPunchHole = 2, kKeepSize = 1;
  syscall(SYS_fallocate, file.live_fd, kPunchHole | kKeepSize, offset, bytes);
}

bool freeze_memory(void* memory, std::size_t bytes) {
  void* copy = map_memory(bytes);
  if (copy == nullptr) {
    return false;
  }
  // In whole words, because threads may still count in it.
  const auto* from = static_cast<const std::uint64_t*>(memory);
  auto* to = static_cast<std::uint64_t*>(copy);
  for (std::size_t i = 0; i < bytes / sizeof *to; ++i) {
    to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
  }
  // In one step: other threads count in it meanwhile.
  if (syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == -1) {
    const int reason = errno;
    unmap_memory(copy, bytes);
    errno = reason;
    return false;
  }
  return true;
}

std::size_t write_at(int fd, const void* data, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    errno = 0;
    const ssize_t n = pwrite(fd, static_cast<const char*>(data) + done, bytes - done,
                             static_cast<off_t>(offset + done));
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      errno = errno != 0 ? errno : ENOSPC;  // nothing written and no reason: the rest does not fit
      break;
    }
  }
  return done;
}

bool is_refused(int error) {
  return error == EOPNOTSUPP || error == EPERM || error == ENOSYS || error == EACCES;
}

bool read_at(int fd, void* data, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        pread(fd, static_cast<char*>(data) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return true;
}

namespace {

// Tells tools that cannot see the system's part: accesses before memory is returned happen before
// accesses after the system hands it out again.
constinit std::atomic<std::uint32_t> given_back{0};

}  // namespace

void* map_memory(std::size_t bytes) {
  void* memory = raw_mmap(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  (void)given_back.load(std::memory_order_acquire);
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) {
  given_back.fetch_add(1, std::memory_order_release);
  syscall(SYS_munmap, memory, bytes);
}

}  // namespace uctrace::log
