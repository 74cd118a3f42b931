#include "cli/data-folder/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/file_identity.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestWait{30};
constexpr std::chrono::milliseconds kBetweenTries{10};

// An open marker; -1 with errno set.
int open_marker(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd >= 0) {
    // The disk may be full.
    [[maybe_unused]] const ssize_t ignored = write(fd, kMarkerText, sizeof kMarkerText - 1);
    return fd;
  }
  const int not_made = errno;
  for (const int access : {O_RDWR, O_RDONLY}) {
    const int there = open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (there >= 0) return there;
  }
  // A marker that existed and is gone is a different error from one that cannot be made.
  errno = not_made == EEXIST ? errno : not_made;
  return -1;
}

// Whether the open file is the folder's marker.
bool is_marker(int fd, const fs::path& path) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
         are_same(identity_of(fd), identity_of_name(path));
}

// False: another process holds it.
bool lock(int fd) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;  // no locks here
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return true;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  const fs::path path = folder / kMarkerFile;
  fd_ = open_marker(path);
  if (fd_ < 0) {
    error_ = errno;
    if (error_ == ENOENT) result_ = Result::changed;
    return;
  }
  if (!lock(fd_)) {
    result_ = Result::busy;
  } else {
    result_ = is_marker(fd_, path) ? Result::locked : Result::changed;
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

int mark_folder(const fs::path& folder) {
  const int fd = open_marker(folder / kMarkerFile);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

}  // namespace uctrace::cli
