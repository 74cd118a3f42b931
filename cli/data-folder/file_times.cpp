#include "cli/data-folder/file_times.hpp"

#include <sys/stat.h>
#include <time.h>

#include <system_error>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace::cli {
namespace {

std::uint64_t ns_of(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec < 0 ? 0 : static_cast<std::uint64_t>(time.tv_sec * kSecond + time.tv_nsec);
}

}  // namespace

std::uint64_t modified_ns(const std::filesystem::path& file) {
  struct stat status {};
  return lstat(file.c_str(), &status) == 0 ? ns_of(status.st_mtim) : 0;
}

std::uint64_t server_time_ns(const std::filesystem::path& folder) {
  try {
    const NewFile probe(folder / kMarkerFile);
    struct stat status {};
    if (fstat(probe.fd(), &status) == 0) return ns_of(status.st_mtim);
  } catch (const std::system_error&) {
    // If nothing can be made there, nothing will be moved there either.
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

}  // namespace uctrace::cli
