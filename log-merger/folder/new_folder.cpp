#include "log-merger/folder/new_folder.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "log-merger/folder/data_files.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const char* doing) {
  throw std::system_error(error, std::generic_category(), doing);
}

bool has_name(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

// A path that ends in a slash names the same folder.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

mode_t permissions_of_new_folders() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0777 & ~mask;
}

}  // namespace

void rename_to_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(errno, "renaming");
  // The file system has no atomic operation for this. A link fails if the name exists, and a folder
  // replaces nothing but an empty folder.
  if (has_name(to)) fail(EEXIST, "renaming");
  if (!fs::is_directory(fs::symlink_status(from))) {
    if (link(from.c_str(), to.c_str()) != 0) fail(errno, "renaming");
    unlink(from.c_str());
  } else if (rename(from.c_str(), to.c_str()) != 0) {
    fail(errno, "renaming");
  }
}

NewFolder::NewFolder(const fs::path& wanted) : wanted_(without_slash(wanted)) {
  if (has_name(wanted_)) fail(EEXIST, "making the folder");
  std::string name = wanted_.string() + kUnfinished + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) fail(errno, "making the folder");
  path_ = name;
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void NewFolder::publish() {
  if (chmod(path_.c_str(), permissions_of_new_folders()) != 0) fail(errno, "making the folder");
  rename_to_new(path_, wanted_);
  path_.clear();
}

}  // namespace uctrace
