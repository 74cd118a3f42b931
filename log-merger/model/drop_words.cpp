#include "log-merger/model/drop_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "event-log/format/drop_causes.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace {
namespace {

constexpr const char* kOtherFolder = "record into another folder with -o DIR";
constexpr const char* kWithRoom = "record into a folder with room with -o DIR";
constexpr const char* kWritable = "record into a folder that the job may write to with -o DIR";
constexpr const char* kLeaveAlone = "leave the folder alone while a job records into it";
constexpr const char* kGiveCore =
    "leave a core to uctrace's thread, record less with --layers or --start-on, or let the program "
    "wait with --never-drop";
constexpr const char* kMoreMemory = "raise it for the job (`ulimit -v`)";

struct Cause {
  const char* name;
  const char* why;  // {}: the file system
  const char* to_do;
};

// In the order of DropCause.
constexpr Cause kCauses[] = {
    {"helper_late", "they came faster than uctrace's thread made memory ready", kGiveCore},
    {"helper_gone", "uctrace's thread did not run for a second or more",
     "leave it a core and do not stop it; where a sandbox killed it, use --no-helper"},
    {"packing_slow", "they came faster than they could be packed", kGiveCore},
    {"storage_slow", "they came faster than the file system ({}) took them",
     "a faster folder, as a local one with -o /tmp/run, takes more, and --never-drop lets the "
     "program wait"},
    {"chunks_bound", "the threads of the process fill more memory at once than uctrace takes",
     "record fewer threads at once, and without --no-helper, which takes less"},
    {"no_memory", "the limit on memory left no more for the log", kMoreMemory},
    {"no_room", "there was no room for the log", kWithRoom},
    {"file_too_large", "the log reached the limit on file sizes",
     "raise it for the job (`ulimit -f`)"},
    {"refused", "a system call that uctrace needs was refused, by a sandbox or by the file system",
     "let the job make files and memory, or record with --no-helper, which needs no call once MPI "
     "or UCX has started"},
    {"not_writable", "the folder cannot be written", kWritable},
    {"removed", "the log or its folder was moved or removed", kLeaveAlone},
    {"no_answer", "the file system did not answer", kOtherFolder},
    {"storage_failed", "the log could not be written", kOtherFolder},
    {"no_thread", "the job may start no more threads",
     "raise it for the job (`ulimit -u`), or record with --no-helper"},
    {"no_lane", "more threads recorded at once than a log has places for",
     "record fewer threads at once"},
    {"in_switch", "a signal handler recorded while its thread went on to new memory",
     "nothing helps: of a handler that interrupts there, this is lost"},
};
static_assert(std::size(kCauses) == log::kDropCauses);

struct Obstacle {
  int error;
  const char* why;  // nullptr: the system's own words
  const char* to_do;
};

// What an errno adds to its cause.
constexpr Obstacle kObstacles[] = {
    {ENOSPC, nullptr, kWithRoom},
    {EDQUOT, nullptr, kWithRoom},
    {EACCES, nullptr, kWritable},
    {EROFS, nullptr, kWritable},
    {EMFILE, "the limit on open files was reached", "raise it for the job (`ulimit -n`)"},
    {EOPNOTSUPP, "with --no-helper a log needs a file system that it can be mapped on",
     "record into a folder on ext4, xfs or tmpfs with -o DIR, or without --no-helper"},
    {ETIME,
     "with --no-helper all room for the log is taken at its start, and that took longer than 30 s",
     "give it less with --max-log, or a faster folder with -o DIR"},
};

const Obstacle* obstacle_of(std::uint32_t error) {
  const auto* known =
      std::find_if(std::begin(kObstacles), std::end(kObstacles),
                   [&](const auto& o) { return o.error == static_cast<int>(error); });
  return known != std::end(kObstacles) ? known : nullptr;
}

}  // namespace

const char* name_of(log::DropCause cause) { return kCauses[static_cast<std::size_t>(cause)].name; }

DropWords drop_words(log::DropCause cause, std::uint32_t write_errno,
                     const std::string& file_system) {
  const Cause& words = kCauses[static_cast<std::size_t>(cause)];
  DropWords result{fmt::format(fmt::runtime(words.why), file_system), words.to_do};
  if (write_errno == 0 || log::cause_of(static_cast<int>(write_errno)) != cause) return result;
  const std::string in_system = std::strerror(static_cast<int>(write_errno));
  if (const Obstacle* obstacle = obstacle_of(write_errno)) {
    result = {obstacle->why != nullptr ? obstacle->why : in_system, obstacle->to_do};
  } else if (cause == log::DropCause::storage_failed || cause == log::DropCause::refused) {
    result.why += fmt::format(" ({})", in_system);
  }
  return result;
}

std::vector<log::DropCause> causes_in(const DropCounts& counts) {
  std::vector<log::DropCause> causes;
  for (std::size_t cause = 0; cause < counts.size(); ++cause) {
    if (counts[cause] != 0) causes.push_back(static_cast<log::DropCause>(cause));
  }
  return causes;
}

}  // namespace uctrace
