#include "cli/log_obstacle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace uctrace::cli {
namespace {

constexpr const char* kOtherFolder = "record into another folder with -o DIR";
constexpr const char* kWithRoom = "record into a folder with room with -o DIR";
constexpr const char* kWritable = "record into a folder that the job may write to with -o DIR";
constexpr const char* kLeaveAlone = "leave the folder alone while a job records into it";
constexpr Obstacle kObstacles[] = {
    {ENOSPC, nullptr, kWithRoom},
    {EDQUOT, nullptr, kWithRoom},
    {EACCES, nullptr, kWritable},
    {EPERM, nullptr, kWritable},
    {EROFS, nullptr, kWritable},
    {ENOENT, "the log or its folder was moved or removed", kLeaveAlone},
    {ESTALE, "the log or its folder was moved or removed", kLeaveAlone},
    {EFBIG, "the log reached the limit on file sizes", "raise it for the job (`ulimit -f`)"},
    {EMFILE, "the limit on open files was reached", "raise it for the job (`ulimit -n`)"},
    {ENOMEM, "the limit on memory left no more for the log", "raise it for the job (`ulimit -v`)"},
    {EAGAIN, "the job may start no more threads", "raise it for the job (`ulimit -u`)"},
    {ETIMEDOUT, "the file system did not answer", kOtherFolder},
};

}  // namespace

Obstacle obstacle_of(std::uint32_t error) {
  const auto* known =
      std::find_if(std::begin(kObstacles), std::end(kObstacles),
                   [&](const auto& o) { return o.error == static_cast<int>(error); });
  Obstacle result{static_cast<int>(error), nullptr, kOtherFolder};
  if (known != std::end(kObstacles)) result = *known;
  if (result.why == nullptr) result.why = std::strerror(static_cast<int>(error));
  return result;
}

}  // namespace uctrace::cli
