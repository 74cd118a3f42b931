// Tries the data folder as the recorder uses it: makes a file, reserves space, maps and writes it,
// and removes the file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "cli/check/checks.hpp"
#include "cli/data-folder/data_folder.hpp"
#include "event-log/format/file_systems.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTried = 1u << 20;
constexpr std::uint64_t kLittleSpace = std::uint64_t{256} << 20;

struct Mount {
  std::string type, device;
};

// The mount of a folder, by its device number, from the kernel's own list.
std::optional<Mount> mount_of(const fs::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return std::nullopt;
  const std::string wanted = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  std::ifstream list("/proc/self/mountinfo");
  std::optional<Mount> found;
  for (std::string line; std::getline(list, line);) {
    // id parent major:minor root point options ... - type device options
    std::istringstream words(line);
    std::string id, parent, device;
    words >> id >> parent >> device;
    const std::size_t dash = line.find(" - ");
    if (device != wanted || dash == std::string::npos) continue;
    Mount mount;
    std::istringstream(line.substr(dash + 3)) >> mount.type >> mount.device;
    found = mount;
  }
  return found;
}

// As the recorder sees it.
log::FileSystem file_system_at(const fs::path& folder) {
  struct statfs state {};
  return log::file_system_of(
      statfs(folder.c_str(), &state) == 0 ? static_cast<std::uint32_t>(state.f_type) : 0);
}

// The folder, or the first above it that is there.
fs::path existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

// The limit on file sizes raises a signal that ends the process, unless it is ignored.
class FileSizeSignalIgnored {
 public:
  FileSizeSignalIgnored() : before_(std::signal(SIGXFSZ, SIG_IGN)) {}
  FileSizeSignalIgnored(const FileSizeSignalIgnored&) = delete;
  FileSizeSignalIgnored& operator=(const FileSizeSignalIgnored&) = delete;
  ~FileSizeSignalIgnored() { std::signal(SIGXFSZ, before_); }

 private:
  void (*before_)(int);
};

// 0 or errno. A store into a hole of a full disk is a SIGBUS: the space is written first.
int write_and_map(int fd) {
  static constexpr char kZeros[4096] = {};
  for (std::uint64_t at = 0; at < kTried; at += sizeof kZeros) {
    errno = 0;
    if (pwrite(fd, kZeros, sizeof kZeros, static_cast<off_t>(at)) !=
        static_cast<ssize_t>(sizeof kZeros)) {
      return errno != 0 ? errno : ENOSPC;
    }
  }
  void* memory = mmap(nullptr, kTried, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno;
  munmap(memory, kTried);
  return 0;
}

// If the trial file should ever stay, `record` takes it for its own by its name. 0 or errno.
int make_file(const fs::path& folder, std::optional<NewFile>& file) {
  try {
    file.emplace(folder / kMarkerFile);
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

constexpr const char* kElsewhere = "uctrace record -o FOLDER -- ..., one that you may write to";

void say_not_written(Findings& findings, const fs::path& folder, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const fs::path place = folder.string();
  findings.problem(
      full ? kFolderFull : kFolderUnwritable,
      {.found = fmt::format("{} {}", place.string(),
                            full ? "has no room for a log" : "cannot be written"),
       .why = fmt::format("{}; a job would run on unrecorded", std::strerror(error)),
       .fix = full
                  ? fmt::format("make room there (df -h {}; quota -s), or uctrace record -o FOLDER",
                                shell_word(place.string()))
                  : kElsewhere});
}

// True if the recorder could write there.
bool is_writable(Findings& findings, const fs::path& folder) {
  const FileSizeSignalIgnored ignored;
  std::optional<NewFile> file;
  if (const int error = make_file(folder, file); error != 0) {
    say_not_written(findings, folder, error);
    return false;
  }
  const bool reserved = fallocate(file->fd(), 0, 0, kTried) == 0;
  const int reserve_error = reserved ? 0 : errno;
  if (!reserved && reserve_error != EOPNOTSUPP) {
    say_not_written(findings, folder, reserve_error);
    return false;
  }
  if (const int error = write_and_map(file->fd()); error != 0) {
    say_not_written(findings, folder, error);
    return false;
  }
  if (!reserved) {
    findings.warning(kFolderNoReserve,
                     {.found = folder.string() + " cannot reserve space (fallocate)",
                      .why = "space is written instead, so that recording grows slower; a disk "
                             "that fills up meanwhile is noticed all the same",
                      .fix = "record into a local folder: uctrace record -o /tmp/run -- ..."});
  }
  return true;
}

// Bytes that the user may still write by quota; nullopt: no quota, or not known.
std::optional<std::uint64_t> left_by_quota(const Mount& mount) {
  dqblk quota{};
  if (quotactl(QCMD(Q_GETQUOTA, USRQUOTA), mount.device.c_str(), static_cast<int>(getuid()),
               reinterpret_cast<caddr_t>(&quota)) != 0 ||
      quota.dqb_bhardlimit == 0) {
    return std::nullopt;
  }
  const std::uint64_t limit = std::uint64_t{quota.dqb_bhardlimit} * 1024;
  return limit > quota.dqb_curspace ? limit - quota.dqb_curspace : 0;
}

void check_space(Findings& findings, const fs::path& folder, const Mount& mount) {
  struct statvfs state {};
  if (statvfs(folder.c_str(), &state) != 0) return;
  const std::uint64_t room = std::uint64_t{state.f_bavail} * state.f_frsize;
  const std::optional<std::uint64_t> quota = left_by_quota(mount);
  const log::FileSystem system = file_system_at(folder);
  if (system.remote) {
    findings.warning(
        kFolderNetwork,
        {.found = fmt::format("{} is on a network file system ({})", folder.string(), mount.type),
         .why = "a job on several hosts needs one; logs are kept in memory and written behind, so "
                "a process that is killed loses its last half second of records, and a slow "
                "server can make records be dropped, which is counted",
         .fix = "on one host: uctrace record -o /tmp/run -- ..."});
  }
  if (room < kLittleSpace) {
    findings.warning(
        kFolderSpace,
        {.found = fmt::format("{} has {} left", folder.string(), format_bytes(room)),
         .why = "a log takes 128 KiB a process and 4 to 19 bytes an event, and up to 12 MiB a "
                "process more while the job runs",
         .fix = fmt::format("make room: df -h {}", shell_word(folder.string()))});
  } else if (quota && *quota < kLittleSpace) {
    findings.warning(
        kFolderQuota,
        {.found = fmt::format("your quota leaves {}", format_bytes(*quota)),
         .why = "a log takes 128 KiB a process and 4 to 19 bytes an event, and up to 12 MiB a "
                "process more while the job runs",
         .fix = "make room: quota -s; or uctrace record -o FOLDER"});
  } else if (!system.remote) {
    findings.ok("folder",
                fmt::format("{} ({}, local) has {} left, logs are {} there", folder.string(),
                            mount.type, format_bytes(room),
                            system.storage == log::Storage::mapped ? "mapped" : "written behind"));
  }
}

}  // namespace

void check_folder(Findings& findings, const fs::path& folder) {
  try {
    require_usable_folder(folder);
  } catch (const Error& error) {
    findings.problem(kFolderTaken, {.found = error.problem().what,
                                    .why = error.problem().why,
                                    .fix = "uctrace record -o FOLDER -- ..., a new one"});
    return;
  }
  const fs::path place = existing(folder);
  if (!is_writable(findings, place)) return;
  check_space(findings, place, mount_of(place).value_or(Mount{.type = "unknown", .device = {}}));
}

}  // namespace uctrace::cli::check
