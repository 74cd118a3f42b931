#include "log-merger/folder/new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>
#include <system_error>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/file_identity.hpp"
#include "log-merger/folder/new_folder.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 100;

std::string random_word() {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> any(0, kLetters.size() - 1);
  std::string word(kUnfinishedWord, '?');
  for (char& letter : word) letter = kLetters[any(random)];
  return word;
}

[[noreturn]] void fail(const char* doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

// A folder, device or pipe is never replaced by a file.
void require_file_or_nothing(const fs::path& wanted) {
  struct stat status {};
  if (lstat(wanted.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode))
    return;
  errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
  fail("making the file");
}

bool still_names(const fs::path& path, int fd) {
  return are_same(identity_of(fd), identity_of_name(path));
}

void require_own(const fs::path& path, int fd) {
  if (still_names(path, fd)) return;
  errno = ESTALE;  // somebody took it away, or put another one there
  fail("renaming");
}

}  // namespace

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

NewFile::NewFile(const fs::path& wanted) : wanted_(wanted) {
  require_file_or_nothing(wanted_);
  for (int i = 0; i < kTries; ++i) {
    path_ = wanted.string() + kUnfinished + random_word();
    fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) fail("making the file");
    // Before it was locked, another process may have taken it for a leftover and may remove it:
    // then make another one.
    const bool is_taken = flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool is_there = still_names(path_, fd_);
    if (is_there && !is_taken) return;
    if (is_there) unlink(path_.c_str());
    close(fd_);
    fd_ = -1;
  }
  errno = EEXIST;
  fail("making the file");
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  if (!path_.empty() && still_names(path_, fd_)) unlink(path_.c_str());
  close(fd_);
}

void NewFile::write(std::string_view bytes) {
  if (!write_all(fd_, bytes)) fail("writing");
}

std::string NewFile::path_to_open() const {
  const std::string by_number = "/proc/self/fd/" + std::to_string(fd_);
  return access(by_number.c_str(), F_OK) == 0 ? by_number : path_.string();
}

void NewFile::require_written() const {
  const int copy = dup(fd_);
  if (copy < 0 || close(copy) != 0) fail("writing");
}

void NewFile::publish_new() {
  require_written();
  require_own(path_, fd_);
  rename_to_new(path_, wanted_);
  path_.clear();
}

// A replaced file passes on its permissions.
void NewFile::publish() {
  require_file_or_nothing(wanted_);
  require_written();
  struct stat replaced {};
  if (lstat(wanted_.c_str(), &replaced) == 0 && S_ISREG(replaced.st_mode)) {
    fchmod(fd_, replaced.st_mode & 0777);
  }
  require_own(path_, fd_);
  if (rename(path_.c_str(), wanted_.c_str()) != 0) fail("renaming");
  path_.clear();
}

std::string why_not_written(const std::system_error& error) {
  return error.code() == std::errc::file_exists ? "what has its name is no regular file"
                                                : error.code().message();
}

namespace {

// It is a leftover if nobody holds its lock.
bool may_be_leftover(int fd, const fs::path& path) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         flock(fd, LOCK_EX | LOCK_NB) == 0 && still_names(path, fd);
}

}  // namespace

void remove_leftovers(const fs::path& wanted) {
  std::error_code error;
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!is_unfinished(it->path().filename().string(), wanted.filename().string())) continue;
    const int fd = open(it->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (may_be_leftover(fd, it->path())) unlink(it->path().c_str());
    close(fd);
  }
}

}  // namespace uctrace
