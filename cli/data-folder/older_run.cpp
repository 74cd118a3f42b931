#include "cli/data-folder/older_run.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

// Others may take numbers at the same time.
constexpr int kTries = 1000;

std::error_code last_error() { return {errno, std::generic_category()}; }

// N of "NAME.old.N"; 0 for every other name.
std::uint64_t number_of(std::string_view entry, const std::string& beginning) {
  if (!entry.starts_with(beginning)) return 0;
  entry.remove_prefix(beginning.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  return error == std::errc() && end == entry.data() + entry.size() ? number : 0;
}

std::uint64_t highest_number(const fs::path& folder, const std::string& beginning) {
  std::uint64_t highest = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    highest = std::max(highest, number_of(it->path().filename().string(), beginning));
  }
  return highest;
}

// Never replaces anything but an empty folder that it made itself. If the file system has no
// RENAME_NOREPLACE (NFS), it first makes a folder of the new name, which rename(2) replaces only
// while it is empty. 0 or errno.
int rename_to_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (mkdir(to.c_str(), 0700) != 0) return errno;
  if (rename(from.c_str(), to.c_str()) == 0) return 0;
  const int error = errno == ENOTEMPTY ? EEXIST : errno;
  rmdir(to.c_str());
  return error;
}

}  // namespace

bool move_back(const fs::path& from, const fs::path& folder) {
  return rename_to_new(from, folder) == 0;
}

MovedRun move_older_run(const fs::path& folder) {
  const std::string beginning = folder.filename().string() + ".old.";
  std::uint64_t number = highest_number(folder.parent_path(), beginning);
  for (int i = 0; i < kTries; ++i) {
    const fs::path to = folder.parent_path() / (beginning + std::to_string(++number));
    errno = rename_to_new(folder, to);
    if (errno == 0) return {.to = to};
    if (errno != EEXIST) break;
  }
  return {.to = {}, .error = last_error()};
}

}  // namespace uctrace::cli
