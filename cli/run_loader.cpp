#include "cli/run_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <optional>
#include <ostream>
#include <random>
#include <streambuf>
#include <thread>

#include "cli/data-folder/store_place.hpp"
#include "cli/failure_text.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "cli/watched_rows.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/sources.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/spill/resident.hpp"
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

// Makes both files, and publishes the profile first: the store says that there is a run, and which
// profile belongs to it. `data` is the folder that the run was read from.
void save(const Run& run, const fs::path& folder, const SameFolder& data,
          const MergeOptions& options, const Ranks& ranks = Ranks()) {
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
      save_store(run, store, profile_and_folder, workers, ranks);
    }
  });
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

// The store in `folder`, read by `load`, if it is of the data folder's logs. If the logs were
// removed to save room, the store is all there is.
template <typename Load>
auto load_if_current(const fs::path& folder, const Load& load, const std::vector<Source>& now)
    -> decltype(load(fs::path(), StoreWanted())) {
  const fs::path store = folder / kStoreFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(store, error))) return std::nullopt;
  if (!has_logs(now)) return load(store, StoreWanted());
  try {
    return load(store, [&](const Run& head, const std::string& tool_version) {
      return head.settled && tool_version == log::kToolVersion && same_files(head.sources, now);
    });
  } catch (const Error&) {
    return std::nullopt;  // an old or damaged store is no loss while the logs exist
  }
}

// A merge that was killed, or two at once, may leave the profile of another store.
void mend_profile(const Run& run, const fs::path& folder, const SameFolder& data) {
  const fs::path profile = folder / kProfileFile;
  if (store_id_of_profile(profile) == run.store_id) return;
  ProgressLine line;
  try_to_keep("the profile of the run", line, [&] {
    require_replaceable(profile, is_profile);
    const Run whole = load_store(folder / kStoreFile);  // `run` may lack rows that were not read
    if (whole.store_id != run.store_id) return;         // another merge has ended meanwhile
    save_profile(whole, profile, [&] { require_same(data, profile); });
  });
}

// Beside the store; if none can be kept, with other temporary files.
fs::path folder_for_spilling(const DataChoice& data) {
  try {
    return StorePlace(data).make_folder();
  } catch (const Error&) {
    return fs::temp_directory_path();
  }
}

MergeOptions options_for(const DataChoice& data, ProgressLine& line) {
  return {.job = data.job,
          .threads = data.threads,
          .progress = line.progress(),
          .memory = {data.memory_bytes, [&data] { return folder_for_spilling(data); }}};
}

Run& head_of(Run& run) { return run; }
Run& head_of(StoredRun& run) { return run.head; }

// Finds the run of a data folder, or makes it.
class RunFinder {
 public:
  explicit RunFinder(const DataChoice& data)
      : data_(data), source_(data.folder), now_(list_sources(data.folder)), place_(data) {}

  bool can_merge() const { return has_logs(now_); }

  // A stored run of the folder's logs, read by `load`. Throws Error if there is neither such a run
  // nor anything to merge.
  template <typename Load>
  auto stored(const Load& load) const -> decltype(load(fs::path(), StoreWanted())) {
    if (!data_.job.empty()) return std::nullopt;
    // Without logs nothing proves that a store elsewhere belongs to this folder.
    const std::vector<fs::path> folders =
        can_merge() ? place_.folders() : std::vector<fs::path>{data_.folder};
    for (const fs::path& folder : folders) {
      auto run = load_if_current(folder, load, now_);
      if (!run) continue;
      Run& head = head_of(*run);
      if (can_merge() && folder == folders.back()) mend_profile(head, folder, source_);
      if (!can_merge() && !head.settled) {
        head.notes.insert(head.notes.begin(),
                          "the logs are gone; this was merged before they were whole");
      }
      return run;
    }
    if (can_merge()) return std::nullopt;
    refuse_empty();
  }

  // Merges the logs and stores the result.
  Run merged() {
    ProgressLine line;
    const MergeOptions options = options_for(data_, line);
    Run run = merge_folder(data_.folder, options);
    const bool is_part = count_unreadable(run.sources) != 0;
    if (is_part || !data_.job.empty()) {
      line.erase();
      const char* const what =
          data_.job.empty() ? "this is a part of the run, and not kept" : "a part of the run";
      if (is_part) warn(what, unreadable_sources(run));
      return run;
    }
    try_to_keep("the merged run", line, [&] {
      run.store_id = new_store_id();
      save(run, place_.make_folder(), source_, options);
    });
    return run;
  }

 private:
  [[noreturn]] void refuse_empty() const {
    const bool kept_elsewhere = !data_.store.empty() && is_store(data_.store / kStoreFile);
    throw Error({.what = "no run in '" + data_.folder.string() + "'",
                 .why = "it holds neither logs nor a merged run",
                 .to_do = kept_elsewhere
                              ? fmt::format("to read the run that is kept in '{}', name that "
                                            "folder in place of this one",
                                            data_.store.string())
                              : "record a job with `uctrace record -- COMMAND`, or name "
                                "the folder that holds the data"});
  }

  const DataChoice& data_;
  const SameFolder source_;
  const std::vector<Source> now_;
  StorePlace place_;
};

// Passes output on. After begin_again() the same output is written again: what was already passed
// on is skipped.
class WrittenOnce : public std::streambuf {
 public:
  WrittenOnce(std::ostream& out, ProgressLine& line) : out_(out), line_(line) {}
  void begin_again() { again_ = passed_; }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const std::streamsize known = std::min(count, again_);
    again_ -= known;
    line_.erase();
    out_.write(text + known, count - known);
    passed_ += count - known;
    return out_ ? count : 0;
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

 private:
  std::ostream& out_;
  ProgressLine& line_;
  std::streamsize passed_ = 0, again_ = 0;
};

Run merge_whole(const DataChoice& data, const MergeOptions& options) {
  Run run = merge_folder(data.folder, options);
  if (count_unreadable(run.sources) == 0) return run;
  throw Error({.what = "cannot merge '" + data.folder.string() + "'",
               .why = unreadable_sources(run),
               .to_do = "make it readable, or move it out of the folder"});
}

// Merges on all ranks or on none. No rank throws before all have reported whether they could.
Run merge_with(const Ranks& ranks, const DataChoice& data, const MergeOptions& options) {
  std::optional<Run> run;
  std::exception_ptr failure;
  try {
    run = merge_whole(data, options);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::size_t failed = ranks.first_that(failure != nullptr);
  if (failed == ranks.rank()) std::rethrow_exception(failure);
  if (failed != ranks.size()) throw OtherRankFailed();
  if (ranks.size() == 1 || ranks.all_same(digest_of(*run))) return *std::move(run);
  if (!ranks.is_first()) throw OtherRankFailed();
  throw Error({.what = "cannot merge '" + data.folder.string() + "' by several processes",
               .why = "they did not all see the same: the job still runs, or a process that was "
                      "killed can be looked for on its own node only, or a file system shows its "
                      "changes late",
               .to_do = "merge without the launcher, or again later"});
}

// If one rank fails while the others wait for its packed columns, all end.
template <typename Work>
void together(const Ranks& ranks, ProgressLine& line, Work work) {
  try {
    work();
  } catch (const std::exception& failure) {
    if (ranks.size() == 1) throw;
    line.erase();
    tell_failure(failure);
    std::this_thread::sleep_for(kTimeToSpeak);
    ranks.abort(kToolFailed);
    throw;
  }
}

}  // namespace

Stored merge_and_store(const DataChoice& data, const Ranks& ranks) {
  const SameFolder source(data.folder);
  ProgressLine line;
  MergeOptions options = options_for(data, line);
  if (!ranks.is_first()) options.progress = nullptr;
  // Each rank holds the whole job.
  if (data.memory_bytes == 0 && ranks.on_this_host() > 1) {
    options.memory.most_bytes = spill::available_bytes() / 4 * 3 / ranks.on_this_host();
  }
  Stored stored{merge_with(ranks, data, options), {}};
  together(ranks, line, [&] {
    stored.run.store_id = ranks.from_first(new_store_id());
    if (!ranks.is_first()) {
      help_to_store(stored.run, workers_for(stored.run.sources, options.threads, nullptr), ranks);
      return;
    }
    StorePlace place(data);
    const fs::path& folder = place.make_folder();
    save(stored.run, folder, source, options, ranks);
    stored.path = folder / kStoreFile;
  });
  return stored;
}

Run load_run(const DataChoice& data, Rows rows) {
  RunFinder finder(data);
  std::optional<Run> run =
      finder.stored([rows](const fs::path& path, const StoreWanted& is_wanted) {
        return load_store(path, rows, is_wanted);
      });
  return run ? *std::move(run) : finder.merged();
}

void tell_run(const DataChoice& data, std::ostream& out, const TellRun& tell) {
  RunFinder finder(data);
  ProgressLine line;
  WrittenOnce written(out, line);
  std::ostream once(&written);
  std::optional<StoredRun> stored =
      finder.stored([](const fs::path& path, const StoreWanted& is_wanted) {
        return open_store(path, is_wanted);
      });
  if (stored) {
    try {
      return tell(once,
                  RowSource(std::move(stored->head), watched(std::move(stored->readers), line)));
    } catch (const UnreadableStore&) {
      if (!finder.can_merge()) throw;
    }
    line.erase();
    written.begin_again();
  }
  const Run run = finder.merged();
  tell(once, run);
}

}  // namespace uctrace::cli
