// Takes a snapshot of the files of a log, which its process may still be writing.
#include "event-log/reader_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "event-log/reader.hpp"
#include "log-merger/error.hpp"

namespace uctrace::log {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string why, std::string to_do) {
  throw Error({"cannot read the log " + name, std::move(why), std::move(to_do)});
}

class FileDescriptor {
 public:
  // O_NONBLOCK: a FIFO in the folder must not make its reader wait.
  explicit FileDescriptor(std::string name)
      : name_(std::move(name)), fd_(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }

  [[noreturn]] void refuse_errno() const {
    refuse(name_, std::strerror(errno), "check the path and its permissions");
  }

  std::size_t size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) refuse_errno();
    if (!S_ISREG(status.st_mode)) refuse(name_, "it is not a regular file", "name a log file");
    return static_cast<std::size_t>(status.st_size);
  }

  // Bytes read from `offset` on: fewer than `bytes` if the file was cut short meanwhile.
  std::size_t read(void* to, std::size_t bytes, std::size_t offset) const {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = ::pread(fd_, static_cast<std::byte*>(to) + done, bytes - done,
                                  static_cast<off_t>(offset + done));
      if (got == 0) break;
      if (got > 0) {
        done += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        refuse_errno();
      }
    }
    return done;
  }

 private:
  std::string name_;
  int fd_;
};

std::byte* bytes_of(FileWords& file) { return reinterpret_cast<std::byte*>(file.words.get()); }

// What a log of bounded size lost while it was read.
void update_overwritten(const FileDescriptor& file, FileWords& words) {
  if (words.bytes < kProcessPageBytes) return;
  static_assert(offsetof(LaneCounters, overwritten_until_tick) ==
                offsetof(LaneCounters, overwritten) + sizeof(LaneCounters::overwritten));
  constexpr std::size_t kBytes = sizeof(LaneCounters::overwritten) + sizeof(std::uint64_t);
  for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
    const std::size_t at = kLanesOffset + lane * sizeof(LaneInfo) + offsetof(LaneInfo, counters) +
                           offsetof(LaneCounters, overwritten);
    file.read(bytes_of(words) + at, kBytes, at);
  }
}

}  // namespace

std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::uint64_t[]>(bytes / sizeof(std::uint64_t) + 1);
  } catch (const std::bad_alloc&) {
    refuse(name, "its " + std::to_string(bytes) + " bytes do not fit into memory",
           "merge on a machine with more memory");
  }
}

LogFile LogFile::from_bytes(Bytes bytes, std::string name, Bytes live) {
  const auto copy = [&](Bytes from) {
    FileWords file{.words = allocate(from.size(), name), .bytes = from.size()};
    if (!from.empty()) std::memcpy(file.words.get(), from.data(), from.size());
    return file;
  };
  FileWords file = copy(bytes), chunks = copy(live);
  return LogFile(std::move(file), std::move(chunks), std::move(name));
}

// In this order: the page before the records that it counts, and chunks before the blocks that they
// are packed into.
LogFile LogFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  const FileDescriptor file(name);
  if (!file.is_open()) file.refuse_errno();
  const std::size_t page_bytes = std::min(file.size(), kProcessPageBytes);
  FileWords page{.words = allocate(kProcessPageBytes, name)}, live;
  const auto live_bytes = [&] {
    std::uint64_t bytes = 0;
    page.bytes = file.read(page.words.get(), page_bytes, 0);
    if (page.bytes == kProcessPageBytes) {
      std::memcpy(&bytes, bytes_of(page) + offsetof(ProcessPage, live_bytes), sizeof bytes);
    }
    return bytes;
  };
  if (live_bytes() != 0) {
    const FileDescriptor chunks(name + kLiveSuffix);
    if (chunks.is_open()) {
      live = read_chunks(chunks, name);
    } else {
      live_bytes();  // most likely the process ended, and packed the rest of it
    }
  }
  const std::size_t size = file.size();
  FileWords words{.words = allocate(std::max(size, kProcessPageBytes), name)};
  std::memcpy(words.words.get(), page.words.get(), page.bytes);
  words.bytes = page.bytes;
  if (page.bytes == kProcessPageBytes && size > kProcessPageBytes) {
    words.bytes +=
        file.read(bytes_of(words) + kProcessPageBytes, size - kProcessPageBytes, kProcessPageBytes);
    std::uint64_t bounded = 0;
    std::memcpy(&bounded, bytes_of(words) + offsetof(ProcessPage, max_event_bytes), sizeof bounded);
    if (bounded != 0) update_overwritten(file, words);
  }
  return LogFile(std::move(words), std::move(live), name);
}

}  // namespace uctrace::log
