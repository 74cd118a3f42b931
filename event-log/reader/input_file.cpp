#include "event-log/reader/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace uctrace::log {
namespace {

constexpr std::size_t kAlignment = 4096;  // of extents: holes of file systems are no finer

}  // namespace

// Checked before opening, because opening some devices has effects; and after, because another file
// may have replaced it.
InputFile::InputFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    error_ = errno;
    return;
  }
  if (!S_ISREG(status.st_mode)) return;
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd_ < 0) {
    error_ = errno;
    return;
  }
  const bool known = fstat(fd_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    opened_ = version_of(status);
    return;
  }
  error_ = known ? 0 : errno;
  close(fd_);
  fd_ = -1;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

InputFile::Version InputFile::version_of(const struct stat& status) {
  return {.size = status.st_size,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

bool InputFile::is_unchanged() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 && version_of(status) == opened_;
}

bool InputFile::is_missing() const { return !is_open() && (error_ == ENOENT || error_ == ENOTDIR); }

FileError InputFile::failure(const std::string& name) const {
  const std::string what = "cannot read " + name;
  if (error_ == 0) {
    return {FileError::Cause::foreign, {what, "it is not a regular file", "move it away"}};
  }
  return {FileError::Cause::system,
          {what, std::strerror(error_), "check the path and its permissions"}};
}

std::string InputFile::path_to_open(const std::string& path) const {
  const std::string by_number = "/proc/self/fd/" + std::to_string(fd_);
  return access(by_number.c_str(), F_OK) == 0 ? by_number : path;
}

std::optional<std::size_t> InputFile::size() {
  struct stat status {};
  if (fstat(fd_, &status) == 0) return static_cast<std::size_t>(status.st_size);
  error_ = errno;
  return std::nullopt;
}

std::vector<Extent> InputFile::data(std::size_t from) {
  struct stat status {};
  if (fstat(fd_, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (from >= size) return {};
  if (static_cast<std::size_t>(status.st_blocks) * 512 >= size / 2) return {{from, size}};
  std::vector<Extent> extents;
  for (std::size_t at = from; at < size;) {
    const off_t begin = lseek(fd_, static_cast<off_t>(at), SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // a hole up to the end
    const off_t end = begin < 0 ? -1 : lseek(fd_, begin, SEEK_HOLE);
    if (end < 0) return {{from, size}};  // the file system cannot tell holes
    Extent found{static_cast<std::size_t>(begin) / kAlignment * kAlignment,
                 (static_cast<std::size_t>(end) + kAlignment - 1) / kAlignment * kAlignment};
    found.begin = std::max(found.begin, at);
    found.end = std::min(found.end, size);
    if (found.end <= at) break;  // it was truncated meanwhile
    if (!extents.empty() && extents.back().end >= found.begin) {
      extents.back().end = found.end;
    } else {
      extents.push_back(found);
    }
    at = found.end;
  }
  return extents;
}

std::optional<std::size_t> InputFile::read(void* to, std::size_t bytes, std::size_t offset) {
  // No file reaches that far: offsets in damaged files may be anything.
  if (offset > static_cast<std::size_t>(std::numeric_limits<off_t>::max()) - bytes) return 0;
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd_, static_cast<std::byte*>(to) + done, bytes - done,
                              static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      error_ = errno;
      return std::nullopt;
    }
  }
  return done;
}

std::optional<std::string> read_text(const std::string& path, std::size_t most) {
  InputFile file(path);
  if (file.is_missing()) return std::nullopt;
  const std::optional<std::size_t> size = file.is_open() ? file.size() : std::nullopt;
  if (size && *size > most) {
    throw FileError(FileError::Cause::foreign,
                    {"cannot read " + path, "it is too large", "move it away"});
  }
  std::string text(size.value_or(0), '\0');
  const auto got = size ? file.read(text.data(), text.size(), 0) : std::nullopt;
  if (!got) throw file.failure(path);
  text.resize(*got);
  return text;
}

}  // namespace uctrace::log
