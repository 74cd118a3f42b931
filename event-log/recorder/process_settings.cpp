// The settings that a process starts with: variables, files of parameters, limits. Read once, by
// the thread that makes the log, and written as texts (docs/log-format.md). Settings that cannot be
// read are left out.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "event-log/format/setting_names.hpp"
#include "event-log/recorder/recorder_parts.hpp"

extern char** environ;

namespace uctrace::log {

namespace {

// Reads a file line by line with little stack: the program's own thread may do this anywhere.
class Lines {
 public:
  // O_NONBLOCK: it may be a pipe that nobody writes to.
  explicit Lines(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Lines() {
    if (fd_ >= 0) close(fd_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next line without surrounding blanks, of a very long one the beginning; false: there is
  // none.
  bool next(std::string_view& line) {
    memmove(text_, text_ + used_, length_ - used_);
    length_ -= used_;
    used_ = 0;
    fill();
    const void* newline = memchr(text_, '\n', length_);
    std::size_t end = newline != nullptr
                          ? static_cast<std::size_t>(static_cast<const char*>(newline) - text_)
                          : length_;
    line = trimmed({text_, end});
    if (length_ == 0) return false;
    used_ = newline != nullptr ? end + 1 : end;
    if (newline == nullptr && length_ == sizeof text_) skip_line();
    return true;
  }

  static std::string_view trimmed(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  }

 private:
  void fill() {
    while (fd_ >= 0 && length_ < sizeof text_) {
      const ssize_t n = read(fd_, text_ + length_, sizeof text_ - length_);
      if (n <= 0) return;
      length_ += static_cast<std::size_t>(n);
    }
  }

  void skip_line() {
    char c = 0;
    while (read(fd_, &c, 1) == 1 && c != '\n') {
    }
  }

  const int fd_;
  std::size_t length_ = 0, used_ = 0;
  char text_[2048];
};

void define_setting(SettingFrom from, const char* prefix, std::string_view name,
                    std::string_view value) {
  char text[2048];
  const int n = snprintf(text, sizeof text, "%s%.*s=%.*s", prefix, static_cast<int>(name.size()),
                         name.data(), static_cast<int>(value.size()), value.data());
  if (n <= 0) return;
  const std::size_t length =
      static_cast<std::size_t>(n) < sizeof text ? static_cast<std::size_t>(n) : sizeof text - 1;
  define_text(TextKind::setting, static_cast<std::uint64_t>(from), text, length);
}

void define_environment() {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const char* const equals = strchr(*variable, '=');
    if (equals == nullptr) continue;
    if (is_setting({*variable, static_cast<std::size_t>(equals - *variable)})) {
      define_text(TextKind::environment, 0, *variable, strlen(*variable));
    }
  }
}

// Lines "name = value"; `prefix` turns the name into that of the equivalent variable. The first
// file that has a name counts, as in Open MPI: call it for the nearest file first.
void define_file_of(SettingFrom from, const char* path, const char* prefix) {
  Lines file(path);
  for (std::string_view line; file.next(line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.front() == '#' || line.front() == '[') continue;
    const std::string_view name = Lines::trimmed(before(line, equals));
    const std::string_view value = Lines::trimmed(behind(line, equals + 1));
    if (name.empty() || is_secret(name)) continue;
    if (*prefix == '\0' && !is_setting(name)) continue;
    define_setting(from, prefix, name, value);
  }
}

// `folder` is a variable's value; nullptr if it is not set.
void define_file_in(SettingFrom from, const char* folder, const char* file, const char* prefix) {
  char path[1024];
  if (folder == nullptr) return;
  const int n = snprintf(path, sizeof path, "%s/%s", folder, file);
  if (n > 0 && static_cast<std::size_t>(n) < sizeof path) define_file_of(from, path, prefix);
}

// The places that these libraries search by default. Files named by another file or variable are
// not read.
void define_files() {
  const char* const home = getenv("HOME");
  const char* const root = getenv("OPAL_PREFIX");
  define_file_in(SettingFrom::mpi_file, home, ".openmpi/mca-params.conf", "OMPI_MCA_");
  if (root != nullptr) {
    define_file_in(SettingFrom::mpi_file, root, "etc/openmpi-mca-params.conf", "OMPI_MCA_");
  } else {
    define_file_of(SettingFrom::mpi_file, "/etc/openmpi/openmpi-mca-params.conf", "OMPI_MCA_");
  }
  define_file_in(SettingFrom::mpi_file, home, ".prte/mca-params.conf", "PRTE_MCA_");
  define_file_in(SettingFrom::mpi_file, home, ".pmix/mca-params.conf", "PMIX_MCA_");
  define_file_of(SettingFrom::ucx_file, "ucx.conf", "");
  define_file_in(SettingFrom::ucx_file, getenv("UCX_CONFIG_DIR"), "ucx.conf", "");
  define_file_in(SettingFrom::ucx_file, home, "ucx.conf", "");
  define_file_of(SettingFrom::ucx_file, "/etc/ucx/ucx.conf", "");
}

// The smallest limit of the control groups around the process: "0::/path" in version 2,
// "4:cpu,memory:/path" in version 1. A container may show its own group as the root.
std::uint64_t least_of_groups(std::string_view path, const char* root, const char* file) {
  std::uint64_t least = UINT64_MAX;
  for (bool more = true; more;) {
    char name[1024];
    const int n = snprintf(name, sizeof name, "%s%.*s/%s", root, static_cast<int>(path.size()),
                           path.data(), file);
    if (n > 0 && static_cast<std::size_t>(n) < sizeof name) {
      Lines limit(name);
      std::string_view line;
      if (limit.next(line) && !line.empty() && line.front() >= '0' && line.front() <= '9') {
        std::uint64_t bytes = 0;
        for (const char c : line) {
          if (c < '0' || c > '9') break;
          bytes = bytes * 10 + static_cast<std::uint64_t>(c - '0');
        }
        least = bytes < least ? bytes : least;
      }
    }
    const std::size_t slash = path.rfind('/');
    more = !path.empty() && slash != std::string_view::npos;
    path = more ? before(path, slash) : std::string_view();
  }
  return least;
}

void define_bytes(const char* name, std::uint64_t bytes, std::uint64_t unlimited_from) {
  char value[32];
  const int n = bytes >= unlimited_from
                    ? snprintf(value, sizeof value, "unlimited")
                    : snprintf(value, sizeof value, "%llu", static_cast<unsigned long long>(bytes));
  define_setting(SettingFrom::system, "", name, {value, static_cast<std::size_t>(n)});
}

void define_memory_of_groups() {
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;  // version 1 reports a few pages
                                                                // less
  Lines groups("/proc/self/cgroup");
  std::uint64_t least = UINT64_MAX;
  bool found = false;
  for (std::string_view line; groups.next(line);) {
    const std::size_t names = line.find(':');
    const std::size_t path = line.find(":/");
    if (names == std::string_view::npos || path == std::string_view::npos) continue;
    const std::string_view controllers = path > names ? behind(before(line, path), names) : "";
    const bool is_version1 = controllers.find("memory") != std::string_view::npos;
    if (!is_version1 && before(line, 4) != "0::/") continue;
    std::string_view group = behind(line, path + 1);
    if (group == "/") group = "";
    const std::uint64_t most =
        is_version1 ? least_of_groups(group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                    : least_of_groups(group, "/sys/fs/cgroup", "memory.max");
    found = true;
    least = most < least ? most : least;
  }
  if (found) define_bytes("cgroup_memory", least, kUnlimited);
}

void define_system() {
  Lines scope("/proc/sys/kernel/yama/ptrace_scope");
  std::string_view line;
  // Without Yama there is no such file, and no such restriction.
  if (scope.next(line)) define_setting(SettingFrom::system, "", "ptrace_scope", line);
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    define_bytes("memlock", limit.rlim_cur, RLIM_INFINITY);
  }
  define_memory_of_groups();
}

}  // namespace

void define_settings() {
  define_environment();
  define_files();
  define_system();
}

}  // namespace uctrace::log
