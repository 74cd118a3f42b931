#include "cli/run_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <random>

#include "cli/store_place.hpp"
#include "event-log/version.hpp"
#include "log-merger/data_files.hpp"
#include "log-merger/error.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/profile_db.hpp"
#include "log-merger/sources.hpp"
#include "log-merger/store.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string new_store_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// The profile first: the store says that there is a run, and of which profile.
void save(const Run& run, const fs::path& folder) {
  const fs::path profile = folder / kProfileFile, store = folder / kStoreFile;
  require_replaceable(store, is_store);
  require_replaceable(profile, is_profile);
  save_profile(run, profile);
  save_store(run, store);
}

void warn(const std::string& what, const std::string& why) {
  std::cerr << "uctrace: warning: " << what << ": " << why << '\n';
}

template <typename Keep>
void try_to_keep(const char* what, Keep keep) {
  try {
    keep();
  } catch (const Error& error) {
    warn(std::string(what) + " is not kept", error.message());
  }
}

std::string unreadable_sources(const Run& run) {
  std::string first;
  for (const Source& source : run.sources) {
    if (source.state == SourceState::unreadable && first.empty()) first = source.name;
  }
  const std::size_t count = count_unreadable(run.sources);
  return fmt::format("{} file{} cannot be read now, {}{}", count, count == 1 ? "" : "s",
                     count == 1 ? "" : "the first: ", first);
}

// The store in `folder` if it is of what lies in the data folder. Of a folder whose logs were
// removed, to save room, it is all there is.
std::optional<Run> load_if_current(const fs::path& folder, const std::vector<Source>& now) {
  const fs::path store = folder / kStoreFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(store, error))) return std::nullopt;
  if (!has_logs(now)) return load_store(store);
  try {
    return load_store(store, [&](const Run& head, const std::string& tool_version) {
      return head.settled && tool_version == log::kToolVersion && same_files(head.sources, now);
    });
  } catch (const Error&) {
    return std::nullopt;  // an old or damaged one is no loss while the logs are there
  }
}

// A merge that was killed, or two at once, may leave the profile of another store.
void mend_profile(const Run& run, const fs::path& folder) {
  const fs::path profile = folder / kProfileFile;
  if (store_id_of_profile(profile) == run.store_id) return;
  try_to_keep("the profile of the run", [&] {
    require_replaceable(profile, is_profile);
    save_profile(run, profile);
  });
}

std::optional<Run> stored_run(const StorePlace& place, const DataChoice& data,
                              const std::vector<Source>& now) {
  for (const fs::path& folder : place.folders()) {
    // Without logs nothing says that what is in a cache is of this folder.
    if (!has_logs(now) && folder != place.folders().front()) break;
    std::optional<Run> run = load_if_current(folder, now);
    if (!run) continue;
    if (has_logs(now) && folder == place.folders().back()) mend_profile(*run, folder);
    if (!has_logs(now) && !run->settled) {
      run->notes.insert(run->notes.begin(),
                        "the logs are gone; this was merged before they were whole");
    }
    return run;
  }
  if (has_logs(now)) return std::nullopt;
  throw Error({.what = "no run in '" + data.folder.string() + "'",
               .why = "it holds neither logs nor a merged run",
               .to_do = "record a job with `uctrace record -- COMMAND`, or name the folder that "
                        "holds the data"});
}

}  // namespace

Stored merge_and_store(const DataChoice& data) {
  Stored stored{merge_folder(data.folder, {}), {}};
  if (count_unreadable(stored.run.sources) != 0) {
    throw Error({.what = "cannot merge '" + data.folder.string() + "'",
                 .why = unreadable_sources(stored.run),
                 .to_do = "make it readable, or move it out of the folder"});
  }
  StorePlace place(data);
  const fs::path& folder = place.make_folder();
  stored.run.store_id = new_store_id();
  save(stored.run, folder);
  stored.path = folder / kStoreFile;
  return stored;
}

Run load_run(const DataChoice& data) {
  const std::vector<Source> now = list_sources(data.folder);
  if (!data.job.empty()) {
    Run run = merge_folder(data.folder, {.job = data.job});
    if (count_unreadable(run.sources) != 0) warn("a part of the run", unreadable_sources(run));
    return run;
  }
  StorePlace place(data);
  if (std::optional<Run> run = stored_run(place, data, now)) return *std::move(run);
  Run run = merge_folder(data.folder, {});
  if (count_unreadable(run.sources) != 0) {
    warn("this is a part of the run, and not kept", unreadable_sources(run));
    return run;
  }
  try_to_keep("the merged run", [&] {
    run.store_id = new_store_id();
    save(run, place.make_folder());
  });
  return run;
}

}  // namespace uctrace::cli
