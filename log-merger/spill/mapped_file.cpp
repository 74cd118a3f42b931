#include "log-merger/spill/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace::spill {
namespace {

// If the file system has no unnamed files, makes a file and removes it at once. Its name is that of
// an unfinished store: if this process is killed in between, the next merge takes it for a
// leftover.
int open_nameless(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  const NewFile file(folder / kStoreFile);
  return fcntl(file.fd(), F_DUPFD_CLOEXEC, 0);
}

}  // namespace

bool MappedFile::open(const std::filesystem::path& folder) {
  void* const range =
      mmap(nullptr, kMostBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  fd_ = open_nameless(folder);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "making the file");
  begin_ = static_cast<char*>(range);
  std::signal(SIGXFSZ, SIG_IGN);  // treat a limit on file sizes like a full disk
  return true;
}

// In steps that the system joins to one mapping: the number of mappings is limited.
bool MappedFile::map_up_to(std::uint64_t end) {
  while (mapped_ < end) {
    if (ftruncate(fd_, static_cast<off_t>(mapped_ + kStep)) != 0) return false;
    if (mmap(begin_ + mapped_, kStep, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
             static_cast<off_t>(mapped_)) == MAP_FAILED) {
      return false;
    }
    mapped_ += kStep;
  }
  return true;
}

// Without reserved room, writing a page may find the disk full, which would kill the process. If
// the file system cannot reserve room, zeros are written.
bool MappedFile::make_room(std::uint64_t begin, std::uint64_t bytes) const {
  int error = 0;
  do {
    error =
        fallocate(fd_, 0, static_cast<off_t>(begin), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) return true;
  if (error != EOPNOTSUPP && error != ENOSYS) return false;
  static constexpr char kZeros[256 * 1024] = {};
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t part = std::min<std::uint64_t>(sizeof kZeros, bytes - at);
    const ssize_t written = pwrite(fd_, kZeros, part, static_cast<off_t>(begin + at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

void* MappedFile::take(std::uint64_t bytes) {
  const std::uint64_t begin = taken_;
  if (bytes > kMostBytes - begin) return nullptr;
  if (!map_up_to(begin + bytes) || !make_room(begin, bytes)) return nullptr;
  taken_ = begin + bytes;
  return begin_ + begin;
}

bool MappedFile::release(void* begin, std::uint64_t bytes) {
  const auto at = static_cast<off_t>(static_cast<char*>(begin) - begin_);
  madvise(begin, bytes, MADV_DONTNEED);
  return fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
                   static_cast<off_t>(bytes)) == 0;
}

void MappedFile::give_back_memory() { madvise(begin_, taken_, MADV_DONTNEED); }

}  // namespace uctrace::spill
