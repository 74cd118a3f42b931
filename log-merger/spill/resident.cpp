#include "log-merger/spill/resident.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace uctrace::spill {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;  // also "max"
}

// "MemAvailable:   1234 kB"
std::optional<std::uint64_t> available_of_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t number = 0; file >> name >> number;) {
    if (name == "MemAvailable:") return number * 1024;
    std::getline(file, unit);
  }
  return std::nullopt;
}

// The files of control groups, version 2 and version 1, with limit and usage.
struct GroupFiles {
  const char *root, *most, *used, *cached[2];
};
constexpr GroupFiles kVersion2 = {
    "/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};
constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory",
                                  "memory.limit_in_bytes",
                                  "memory.usage_in_bytes",
                                  {"total_inactive_file", "total_active_file"}};

// The remaining memory of a group. Cached files count as used there, but can be evicted.
std::uint64_t left_of(const fs::path& group, const GroupFiles& files) {
  const auto most = number_in(group / files.most), used = number_in(group / files.used);
  if (!most || !used) return UINT64_MAX;
  std::uint64_t cached = 0;
  std::ifstream stat(group / "memory.stat");
  std::string name;
  for (std::uint64_t number = 0; stat >> name >> number;) {
    if (name == files.cached[0] || name == files.cached[1]) cached += number;
  }
  const std::uint64_t held = *used - std::min(*used, cached);
  return *most - std::min(*most, held);
}

// A container may show its own group as the root.
std::uint64_t left_of_all(const std::string& path, const GroupFiles& files) {
  const fs::path root = files.root;
  std::uint64_t left = UINT64_MAX;
  for (fs::path group = root / path; group.string().size() >= root.string().size();
       group = group.parent_path()) {
    left = std::min(left, left_of(group, files));
  }
  return left;
}

// Limits of the groups around this process: "0::/path", and of version 1 "4:cpu,memory:/path".
std::uint64_t left_of_groups() {
  std::ifstream file("/proc/self/cgroup");
  std::uint64_t left = UINT64_MAX;
  for (std::string line; std::getline(file, line);) {
    const std::size_t names = line.find(':'), path = line.find(":/");
    if (names == std::string::npos || path == std::string::npos) continue;
    const std::string controllers = "," + line.substr(names + 1, path - names - 1) + ",";
    const bool is_version1 = controllers.find(",memory,") != std::string::npos;
    if (!is_version1 && !line.starts_with("0::/")) continue;
    left = std::min(left, left_of_all(line.substr(path + 2), is_version1 ? kVersion1 : kVersion2));
  }
  return left;
}

}  // namespace

ResidentBytes::ResidentBytes() : fd_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}
ResidentBytes::~ResidentBytes() { close(fd_); }

// "total resident shared ...", in pages.
Resident ResidentBytes::operator()() const {
  char text[128];
  const ssize_t bytes = pread(fd_, text, sizeof text, 0);
  std::array<std::uint64_t, 3> pages{};
  const char* at = text;
  const char* const end = text + std::max<ssize_t>(bytes, 0);
  for (std::uint64_t& count : pages) {
    at = std::from_chars(at, end, count).ptr;
    at += at != end;
  }
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {pages[1] * page_bytes, pages[2] * page_bytes};
}

std::uint64_t available_bytes() {
  return std::min(available_of_machine().value_or(UINT64_MAX), left_of_groups());
}

}  // namespace uctrace::spill
