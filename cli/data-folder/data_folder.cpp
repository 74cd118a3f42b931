#include "cli/data-folder/data_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "cli/data-folder/folder_lock.hpp"
#include "cli/data-folder/folder_rules.hpp"
#include "cli/data-folder/older_run.hpp"
#include "cli/data-folder/signs_of_life.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/model/json_text.hpp"

namespace uctrace::cli {

namespace fs = std::filesystem;

namespace {

using State = DataFolder::State;

// Others may change the folder while it is examined: then it is examined again.
constexpr int kMostLooks = 100;

[[noreturn]] void refuse(const fs::path& path, std::string why) {
  throw Error({.what = "cannot record into '" + path.string() + "'",
               .why = std::move(why),
               .to_do = "choose another folder with -o DIR, one that is new or empty"});
}

FolderKind kind_of(const fs::path& path) {
  FolderVerdict verdict = judge(list_folder(path));
  if (verdict.kind == FolderKind::foreign) refuse(path, std::move(verdict.why));
  return verdict.kind;
}

void require_movable(const fs::path& path) {
  const std::string obstacle = obstacle_to_renaming(path);
  if (!obstacle.empty()) {
    refuse(path, "it holds an older run, and cannot be renamed because it " + obstacle);
  }
}

// Without a final slash, and without "." in between. A ".." is left to the file system.
fs::path absolute_path(const fs::path& folder) {
  fs::path result;
  for (const fs::path& part : fs::absolute(folder)) {
    if (!part.empty() && part != ".") result /= part;
  }
  std::error_code error;
  const fs::path real = result.filename() == ".." ? fs::canonical(result, error) : result;
  return error ? result : real;
}

bool is_writable(const fs::path& folder, std::string& why) {
  if (access(folder.c_str(), W_OK | X_OK) == 0) return true;
  why = std::error_code(errno, std::generic_category()).message();
  return false;
}

// One examination of the folder, and the resulting action.
class Preparation {
 public:
  Preparation(const fs::path& path, const std::string& job) : job_(job) { folder_.path = path; }

  DataFolder run() {
    for (int i = 0; i < kMostLooks; ++i) {
      if (look()) return std::move(folder_);
    }
    refuse(folder_.path, "it changes all the time");
  }

 private:
  // False: it is another folder by now.
  bool look() {
    const FolderKind kind = kind_of(folder_.path);
    if (kind == FolderKind::missing) return make();
    const FolderLock lock(folder_.path);
    if (lock.result() == FolderLock::Result::changed) return false;
    if (lock.result() == FolderLock::Result::unmarked) {
      return end(State::unwritable,
                 std::error_code(lock.error(), std::generic_category()).message());
    }
    if (lock.result() == FolderLock::Result::busy) {
      refuse(folder_.path, "another `uctrace record` has been preparing it for half a minute");
    }
    return decide(kind_of(folder_.path));
  }

  // Call it under the lock.
  bool decide(FolderKind kind) {
    const std::string sign = sign_of_life(folder_.path);
    if (!sign.empty()) return take(State::shared, sign);
    if (kind != FolderKind::older_run) return take(State::fresh, "");
    require_movable(folder_.path);
    const MovedRun moved = move_older_run(folder_.path);
    if (moved.error == std::errc::device_or_resource_busy ||
        moved.error == std::errc::cross_device_link) {
      refuse(folder_.path,
             "it holds an older run, and cannot be renamed: " + moved.error.message());
    }
    if (moved.error) {
      return take(State::shared, fmt::format("older data cannot be moved to {}.old.N: {}",
                                             folder_.path.string(), moved.error.message()));
    }
    // If the file system has no locks, another `record` may have begun to use it meanwhile.
    const std::string late_sign = sign_of_life(moved.to);
    if (!late_sign.empty() && move_back(moved.to, folder_.path)) {
      return take(State::shared, late_sign);
    }
    folder_.moved_to = moved.to;
    return false;
  }

  // False: it now exists.
  bool make() {
    std::error_code error;
    fs::create_directories(folder_.path, error);
    return error && error != std::errc::file_exists && end(State::unwritable, error.message());
  }

  bool take(State state, const std::string& why) {
    std::string not_writable;
    if (!is_writable(folder_.path, not_writable)) return end(State::unwritable, not_writable);
    try {
      folder_.lease = std::make_unique<Lease>(folder_.path, job_);
    } catch (const std::system_error&) {
      // The disk may be full. The logs have their own heartbeats.
    }
    return end(state, why);
  }

  bool end(State state, const std::string& why) {
    folder_.state = state;
    folder_.why = why;
    return true;
  }

  DataFolder folder_;
  const std::string& job_;
};

}  // namespace

void require_usable_folder(const fs::path& path) {
  const fs::path folder = absolute_path(path);
  if (kind_of(folder) == FolderKind::older_run && sign_of_life(folder).empty()) {
    require_movable(folder);
  }
}

DataFolder prepare_folder(const fs::path& folder, const std::string& job) {
  return Preparation(absolute_path(folder), job).run();
}

fs::path join_folder(const fs::path& folder) {
  const fs::path path = absolute_path(folder);
  if (kind_of(path) == FolderKind::missing) {
    std::error_code ignored;
    fs::create_directories(path, ignored);
  }
  mark_folder(path);
  return path;
}

bool write_run_json(const fs::path& folder, const RunRecord& record) {
  using nlohmann::ordered_json;
  const ordered_json json = {
      {"schema", 1},
      {"tool_version", log::kToolVersion},
      {"job", record.job},
      {"host", record.host},
      {"command", record.command},
      {"started_as", record.started_as},
      {"environment", record.environment},
      {"started_ns", record.started_ns},
      {"ended_ns", record.ended_ns == 0 ? ordered_json(nullptr) : ordered_json(record.ended_ns)},
      {"exit_status",
       record.exit_status ? ordered_json(*record.exit_status) : ordered_json(nullptr)}};
  try {
    NewFile file(folder / kRunFile);
    file.write(dump(json, 2) + "\n");
    file.publish();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

}  // namespace uctrace::cli
