#include "cli/run_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <iostream>
#include <optional>
#include <random>

#include "cli/data-folder/store_place.hpp"
#include "cli/progress_line.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/sources.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/store/profile_db.hpp"
#include "log-merger/store/store.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string new_store_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

void require_same(const SameFolder& data, const fs::path& path) {
  if (data.is_still_there()) return;
  throw Error({.what = "cannot write '" + path.string() + "'",
               .why = "the data folder was renamed meanwhile: a new job is recorded there",
               .to_do = "name the folder that the older run has now"});
}

// Both are made at once, and the profile is published first: the store says that there is a run,
// and of which profile. `data` is the folder that the run was read from.
void save(const Run& run, const fs::path& folder, const SameFolder& data,
          const MergeOptions& options) {
  if (options.progress != nullptr) options.progress->begin("storing", 1);
  const fs::path profile = folder / kProfileFile, store = folder / kStoreFile;
  require_replaceable(store, is_store);
  require_replaceable(profile, is_profile);
  const Workers workers = workers_for(run.sources, options.threads, options.progress);
  std::promise<void> published;
  workers.each(2, [&](std::size_t piece) {
    if (piece == 0) {
      try {
        save_profile(run, profile, [&] { require_same(data, profile); });
        published.set_value();
      } catch (...) {
        published.set_exception(std::current_exception());
        throw;
      }
    } else {
      const auto profile_and_folder = [&] {
        published.get_future().get();
        require_same(data, store);
      };
      save_store(run, store, profile_and_folder, workers);
    }
  });
}

void warn(const std::string& what, const std::string& why) {
  std::cerr << "uctrace: warning: " << what << ": " << why << '\n';
}

template <typename Keep>
void try_to_keep(const char* what, ProgressLine& line, Keep keep) {
  try {
    keep();
  } catch (const Error& error) {
    line.erase();
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
std::optional<Run> load_if_current(const fs::path& folder, Rows rows,
                                   const std::vector<Source>& now) {
  const fs::path store = folder / kStoreFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(store, error))) return std::nullopt;
  if (!has_logs(now)) return load_store(store, rows);
  try {
    return load_store(store, rows, [&](const Run& head, const std::string& tool_version) {
      return head.settled && tool_version == log::kToolVersion && same_files(head.sources, now);
    });
  } catch (const Error&) {
    return std::nullopt;  // an old or damaged one is no loss while the logs are there
  }
}

// A merge that was killed, or two at once, may leave the profile of another store.
void mend_profile(const Run& run, const fs::path& folder, const SameFolder& data) {
  const fs::path profile = folder / kProfileFile;
  if (store_id_of_profile(profile) == run.store_id) return;
  ProgressLine line;
  try_to_keep("the profile of the run", line, [&] {
    require_replaceable(profile, is_profile);
    const Run whole = load_store(folder / kStoreFile);  // of `run` not all rows may have been read
    if (whole.store_id != run.store_id) return;         // another merge has ended meanwhile
    save_profile(whole, profile, [&] { require_same(data, profile); });
  });
}

std::optional<Run> stored_run(const StorePlace& place, const DataChoice& data,
                              const SameFolder& source, Rows rows, const std::vector<Source>& now) {
  // Without logs nothing says that what lies elsewhere is of this folder.
  const std::vector<fs::path> folders =
      has_logs(now) ? place.folders() : std::vector<fs::path>{data.folder};
  for (const fs::path& folder : folders) {
    std::optional<Run> run = load_if_current(folder, rows, now);
    if (!run) continue;
    if (has_logs(now) && folder == folders.back()) mend_profile(*run, folder, source);
    if (!has_logs(now) && !run->settled) {
      run->notes.insert(run->notes.begin(),
                        "the logs are gone; this was merged before they were whole");
    }
    return run;
  }
  if (has_logs(now)) return std::nullopt;
  const bool kept_elsewhere = !data.store.empty() && is_store(data.store / kStoreFile);
  throw Error({.what = "no run in '" + data.folder.string() + "'",
               .why = "it holds neither logs nor a merged run",
               .to_do = kept_elsewhere
                            ? fmt::format("to read the run that is kept in '{}', name that "
                                          "folder in place of this one",
                                          data.store.string())
                            : "record a job with `uctrace record -- COMMAND`, or name "
                              "the folder that holds the data"});
}

MergeOptions options_for(const DataChoice& data, ProgressLine& line) {
  return {.job = data.job, .threads = data.threads, .progress = line.progress()};
}

}  // namespace

Stored merge_and_store(const DataChoice& data) {
  const SameFolder source(data.folder);
  ProgressLine line;
  const MergeOptions options = options_for(data, line);
  Stored stored{merge_folder(data.folder, options), {}};
  if (count_unreadable(stored.run.sources) != 0) {
    throw Error({.what = "cannot merge '" + data.folder.string() + "'",
                 .why = unreadable_sources(stored.run),
                 .to_do = "make it readable, or move it out of the folder"});
  }
  StorePlace place(data);
  const fs::path& folder = place.make_folder();
  stored.run.store_id = new_store_id();
  save(stored.run, folder, source, options);
  stored.path = folder / kStoreFile;
  return stored;
}

Run load_run(const DataChoice& data, Rows rows) {
  const SameFolder source(data.folder);
  const std::vector<Source> now = list_sources(data.folder);
  if (!data.job.empty()) {
    ProgressLine line;
    Run run = merge_folder(data.folder, options_for(data, line));
    line.erase();
    if (count_unreadable(run.sources) != 0) warn("a part of the run", unreadable_sources(run));
    return run;
  }
  StorePlace place(data);
  if (std::optional<Run> run = stored_run(place, data, source, rows, now)) return *std::move(run);
  ProgressLine line;
  const MergeOptions options = options_for(data, line);
  Run run = merge_folder(data.folder, options);
  if (count_unreadable(run.sources) != 0) {
    line.erase();
    warn("this is a part of the run, and not kept", unreadable_sources(run));
    return run;
  }
  try_to_keep("the merged run", line, [&] {
    run.store_id = new_store_id();
    save(run, place.make_folder(), source, options);
  });
  return run;
}

}  // namespace uctrace::cli
