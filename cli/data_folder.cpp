#include "cli/data_folder.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/job_log.hpp"
#include "cli/run_loader.hpp"
#include "event-log/version.hpp"
#include "log-merger/error.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/table.hpp"

namespace uctrace::cli {

namespace fs = std::filesystem;

namespace {

bool is_ours(const fs::path& folder) {
  std::error_code error;
  if (fs::is_empty(folder, error)) return true;
  return std::any_of(fs::directory_iterator(folder, error), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       const fs::path name = entry.path().filename();
                       return name == kRunFile || name == kStoreFile || name == kLibraryLink ||
                              name.extension() == kLogSuffix;
                     });
}

bool is_writable(const fs::path& folder, std::string& why) {
  if (access(folder.c_str(), W_OK | X_OK) == 0) return true;
  why = std::error_code(errno, std::generic_category()).message();
  return false;
}

// Empty if there is nothing to move or it was moved; else why it stays.
std::string move_aside(const fs::path& folder, fs::path& moved_to) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) return "";
  if (has_live_writer(folder)) return "a job is still writing there";
  const fs::path old = folder.string() + ".old";
  require_own_folder(old);
  fs::remove_all(old, error);
  if (!error) fs::rename(folder, old, error);
  if (!error) moved_to = old;
  return error ? "older data cannot be moved to " + old.string() + ": " + error.message() : "";
}

}  // namespace

void require_own_folder(const fs::path& path) {
  if (!fs::exists(path) || (fs::is_directory(path) && is_ours(path))) return;
  throw Error({.what = "cannot record into '" + path.string() + "'",
               .why = "it exists and is not a folder of uctrace",
               .to_do = "choose another folder with -o DIR, or move it away"});
}

DataFolder prepare_folder(const fs::path& folder) {
  DataFolder result{.path = fs::absolute(folder).lexically_normal()};
  if (!result.path.has_filename()) result.path = result.path.parent_path();
  require_own_folder(result.path);
  const std::string kept_because = move_aside(result.path, result.moved_to);
  std::error_code error;
  fs::create_directories(result.path, error);
  if (error) {
    result.why = error.message();
    result.state = DataFolder::State::unwritable;
  } else if (!is_writable(result.path, result.why)) {
    result.state = DataFolder::State::unwritable;
  } else if (!kept_because.empty()) {
    result.why = kept_because;
    result.state = DataFolder::State::shared;
  }
  return result;
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "uctrace-XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
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
  const fs::path path = folder / kRunFile, unfinished = folder / (std::string(kRunFile) + ".new");
  std::error_code error;
  std::ofstream file(unfinished, std::ios::trunc);
  if (!(file << dump(json, 2) << '\n' << std::flush)) {
    file.close();
    fs::remove(unfinished, error);
    return false;
  }
  file.close();
  fs::rename(unfinished, path, error);
  return !error;
}

}  // namespace uctrace::cli
