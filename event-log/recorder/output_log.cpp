#include "event-log/recorder/output_log.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "event-log/format/file_name.hpp"
#include "event-log/format/file_systems.hpp"
#include "event-log/recorder/no_helper.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/switched_on.hpp"

namespace uctrace::log {

namespace {

// The first image of a process has a name without a number (ProcessPage::image).
bool name_log(char* out, std::size_t size, const char* folder, const ProcessPage& identity,
              std::uint32_t image) {
  char number[16] = "";
  if (image > 0) {
    snprintf(number, sizeof number, "-%u", image);
  }
  NamePart host;
  const int n = snprintf(out, size, "%s/%s-%.8s-%llu-%u-%llu%s.ulog", folder,
                         write_name_part(host, identity.host), identity.boot_id,
                         static_cast<unsigned long long>(identity.pid_namespace), identity.pid,
                         static_cast<unsigned long long>(identity.start_time), number);
  return n > 0 && static_cast<std::size_t>(n) < size;
}

// The owner can always read it, whatever the program's umask says.
int create_file(int folder, const char* path, mode_t mode) {
  const int fd = openat(folder, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  struct stat status {};
  if (fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & S_IRUSR) == 0) {
    fchmod(fd, (status.st_mode & 07777) | S_IRUSR);
  }
  return fd;
}

// UCTRACE_DRAIN=1 avoids the mapping even if the file system allows it, unless nobody would then
// write the file.
Storage storage_on(std::uint32_t type, bool has_writer) {
  return is_switched_on("UCTRACE_DRAIN") && has_writer ? Storage::drained
                                                       : file_system_of(type).storage;
}

// Gives an empty file its page; nullptr with errno set if there is no room.
ProcessPage* write_page(OutputLog& file, const ProcessPage& identity, std::uint32_t image,
                        std::uint32_t type) {
  auto* page = static_cast<ProcessPage*>(file.storage == Storage::mapped
                                             ? map_file(file.fd, 0, kProcessPageBytes)
                                             : map_memory(kProcessPageBytes));
  if (page == nullptr) {
    return nullptr;
  }
  // The lanes follow the struct; when a page continues in another file they are copied, too.
  memcpy(static_cast<void*>(page), &identity, sizeof identity);
  page->image = image;
  page->file_system = type;
  page->storage = file.storage;
  page->allocated_bytes = kProcessPageBytes;
  if (file.storage == Storage::drained &&
      write_at(file.fd, page, kProcessPageBytes, 0) != kProcessPageBytes) {
    const int reason = errno;
    unmap_memory(page, kProcessPageBytes);
    errno = reason;
    return nullptr;
  }
  return page;
}

// A file with a free name: after exec the process is the same, and its earlier images have their
// logs. Counts `image` up.
int create_log_file(OutputLog& file, const char* folder, const ProcessPage& identity,
                    std::uint32_t& image) {
  constexpr std::uint32_t kMostImages = 10'000;
  int fd = -1;
  do {
    if (!name_log(file.path, sizeof file.path, folder, identity, image)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    fd = create_file(AT_FDCWD, file.path, file.storage == Storage::mapped ? 0444 : 0644);
  } while (fd < 0 && errno == EEXIST && ++image < kMostImages);
  return fd;
}

bool open_in(OutputLog& file, const char* folder, const ProcessPage& identity) {
  if (folder == nullptr || folder[0] == '\0') {
    errno = ENOENT;
    return false;
  }
  struct statfs facts {};
  if (statfs(folder, &facts) != 0) {
    return false;
  }
  const auto type = static_cast<std::uint32_t>(facts.f_type);
  file.storage = storage_on(type, file.has_writer);
  std::uint32_t image = identity.image;
  file.fd = create_log_file(file, folder, identity, image);
  if (file.fd < 0) {
    return false;
  }
  file.page = write_page(file, identity, image, type);
  if (file.page == nullptr) {
    const int reason = errno;
    close(file.fd);
    unlink(file.path);  // it contains nothing readable
    file.fd = -1;
    errno = reason;
    return false;
  }
  return true;
}

// The name of the file of chunks, in the folder of the log.
struct LiveName {
  char text[sizeof(OutputLog::path) + sizeof kLiveSuffix];
  explicit LiveName(const OutputLog& file) {
    const char* slash = strrchr(file.path, '/');
    snprintf(text, sizeof text, "%s%s", slash != nullptr ? slash + 1 : file.path, kLiveSuffix);
  }
};

bool open_live_file(OutputLog& file, const char* folder) {
  file.folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file.folder_fd < 0) {
    return false;
  }
  file.live_fd = create_file(file.folder_fd, LiveName(file).text, 0444);
  if (file.live_fd < 0 ||
      (syscall(SYS_fallocate, file.live_fd, 0, 0L, kLiveReserve) != 0 && !is_refused(errno))) {
    return false;
  }
  file.live_bytes = kLiveReserve;
  return true;
}

// UCTRACE_MAX_LOG in bytes, set by `uctrace record --max-log`.
std::uint64_t most_event_bytes() {
  const char* most = getenv("UCTRACE_MAX_LOG");
  const std::uint64_t bytes = most != nullptr ? strtoull(most, nullptr, 10) : 0;
  return bytes == 0 && wants_no_helper() ? kMostWithoutHelper : bytes;
}

void open_fallback(OutputLog& file, const ProcessPage& page, int reason) {
  if (open_in(file, getenv("UCTRACE_FALLBACK_DIR"), page)) {
    file.page->write_errno = static_cast<std::uint32_t>(reason);
  } else {
    errno = reason;
  }
}

// Besides its page a log needs a file for its chunks, unless they are in memory or in the log.
bool make_room_for_chunks(OutputLog& file, const char* folder) {
  if (file.storage == Storage::mapped && wants_no_helper()) {
    file.chunks_in_log = true;
    file.live_fd = file.fd;
    file.live_bytes = kProcessPageBytes;
    return true;
  }
  return file.storage == Storage::drained || open_live_file(file, folder);
}

}  // namespace

OutputLog create_output_log() {
  ProcessPage identity{};
  fill_page(identity);
  identity.max_event_bytes = most_event_bytes();
  OutputLog file;
  if (open_in(file, getenv("UCTRACE_DIR"), identity)) {
    file.grows = make_room_for_chunks(file, getenv("UCTRACE_DIR"));
    if (!file.grows) {
      file.page->write_errno = static_cast<std::uint32_t>(errno);
    }
    return file;
  }
  return create_fallback_log(identity, errno);
}

OutputLog create_counters_log(int reason) {
  rlimit file_size{};
  if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur < kProcessPageBytes) {
    return {};  // on this thread SIGXFSZ, for a file that is too large, would reach the program
  }
  ProcessPage identity{};
  fill_page(identity);
  identity.heartbeat_realtime_ns = 0;  // without a helper nobody refreshes it
  identity.write_errno = static_cast<std::uint32_t>(reason);
  OutputLog file;
  file.has_writer = !wants_no_helper();
  open_fallback(file, identity, reason);
  if (file.fd < 0 && reason != ETIMEDOUT) {
    open_in(file, getenv("UCTRACE_DIR"), identity);
  }
  return file;
}

OutputLog create_fallback_log(const ProcessPage& page, int reason) {
  OutputLog file;
  open_fallback(file, page, reason);
  return file;
}

void rewrite_page(const char* path, const ProcessPage& page) {
  const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) {
    write_at(fd, &page, kProcessPageBytes, 0);
    close(fd);
  }
}

void* make_chunk_memory(OutputLog& file, std::size_t bytes) {
  if (file.storage == Storage::drained) {
    void* memory = map_memory(bytes);
    if (memory != nullptr) {
      syscall(SYS_madvise, memory, bytes, MADV_DONTFORK);
    }
    return memory;
  }
  void* memory = map_file(file.live_fd, file.live_bytes, bytes);
  if (memory != nullptr) {
    file.live_bytes += bytes;
    if (file.chunks_in_log) {
      file.page->chunk_bytes = file.live_bytes - kProcessPageBytes;
    } else {
      file.page->live_bytes = file.live_bytes;
    }
  }
  return memory;
}

void remove_live_file(const OutputLog& file) {
  if (file.live_fd >= 0 && !file.chunks_in_log) {
    unlinkat(file.folder_fd, LiveName(file).text, 0);
  }
}

void remove_output_log(const OutputLog& file) {
  remove_live_file(file);
  unlink(file.path);
}

bool is_removed(const OutputLog& file) {
  struct stat status {};
  return fstat(file.fd, &status) == 0 ? status.st_nlink == 0 : errno == ESTALE;
}

void release_output_log(const OutputLog& file) {
  struct stat status {};
  if (file.storage == Storage::mapped && fstat(file.fd, &status) == 0) {
    fchmod(file.fd, (status.st_mode & 07777) | S_IWUSR);
  }
}

}  // namespace uctrace::log
