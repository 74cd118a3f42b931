#include "cli/run_loader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "log-merger/error.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/profile_db.hpp"
#include "log-merger/store.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

// Nanoseconds. A copied or moved log may keep an old time of modification, but not of change.
struct FileTimes {
  std::int64_t modified, changed;
};

std::optional<FileTimes> times_of(const fs::path& file) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return std::nullopt;
  return FileTimes{status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec,
                   status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec};
}

struct FolderState {
  bool has_logs = false;
  bool has_store = false;
  bool store_is_newest = false;
};

FolderState look_at(const fs::path& folder) {
  FolderState state;
  std::optional<std::int64_t> stored, logged;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    throw Error({.what = "cannot read " + quoted(folder),
                 .why = error.message(),
                 .to_do = missing ? "record a job with `uctrace record -- COMMAND`, or name the "
                                    "folder that holds the data"
                                  : "name a folder that you can read"});
  }
  for (const fs::directory_entry& entry : entries) {
    const fs::path name = entry.path().filename();
    const std::optional<FileTimes> times = times_of(entry.path());
    if (!times) continue;
    if (name == kStoreFile) stored = times->modified;
    const bool is_log = name.extension() == kLogSuffix;
    state.has_logs |= is_log;
    // The topology of a node may be finished after its job, and after a merge.
    if (is_log || name.string().ends_with(kTopologySuffix)) {
      logged = std::max({logged.value_or(0), times->modified, times->changed});
    }
  }
  state.has_store = stored.has_value();
  state.store_is_newest = stored && (!state.has_logs || *stored >= *logged);
  return state;
}

// A mapped log of a live process grows without a new modification time.
bool was_running(const Run& run) {
  return std::any_of(run.processes.begin(), run.processes.end(),
                     [&](const Process& process) { return run.texts[process.exit] == "running"; });
}

std::optional<Run> load_if_current(const fs::path& folder, const FolderState& state) {
  if (!state.store_is_newest) return std::nullopt;
  try {
    Run run = load_store(folder / kStoreFile);
    if (!state.has_logs || !was_running(run)) return run;
  } catch (const Error&) {
    // An old or damaged store is no loss while the logs are there to make it again.
    if (!state.has_logs) throw;
  }
  return std::nullopt;
}

}  // namespace

Run merge_and_store(const fs::path& folder) {
  Run run = merge_folder(folder, {});
  save_store(run, folder / kStoreFile);
  save_profile(run, folder / kProfileFile);
  return run;
}

Run load_run(const DataChoice& data) {
  const FolderState state = look_at(data.folder);
  if (!state.has_logs && !state.has_store) {
    throw Error({.what = "no run in " + quoted(data.folder),
                 .why = "it holds neither logs nor a merged run",
                 .to_do = "record a job with `uctrace record -- COMMAND`, or name the folder that "
                          "holds the data"});
  }
  if (!data.job.empty()) return merge_folder(data.folder, {.job = data.job});
  if (std::optional<Run> run = load_if_current(data.folder, state)) return *std::move(run);
  Run run = merge_folder(data.folder, {});
  const auto keep = [](const char* what, const auto& save) {
    try {
      save();
    } catch (const Error& error) {
      std::cerr << "uctrace: warning: " << what << " is not kept: " << error.message() << '\n';
    }
  };
  keep("the merged run", [&] { save_store(run, data.folder / kStoreFile); });
  keep("its profile", [&] { save_profile(run, data.folder / kProfileFile); });
  return run;
}

}  // namespace uctrace::cli
