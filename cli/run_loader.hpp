// The merged run behind a reading verb.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>

#include "cli/data-folder/data_choice.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/ranks/ranks.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/store/store.hpp"

namespace uctrace::cli {

// Reads the store if it is up to date with the folder, else merges the logs and stores the run. A
// job named by hand is merged in memory, with all rows; so is a run that cannot be stored, or one
// with a log that cannot be read now (with a warning). Throws Error for a folder without a run.
Run load_run(const DataChoice& data, Rows rows = Rows::all);

// The same for a reader that needs only the rows it reads: no others are loaded from the store. If
// the store turns out to be damaged on the way and the logs exist, these are merged and printed
// instead; output that was already written is not repeated.
using TellRun = std::function<void(std::ostream& out, const RowSource& rows)>;
void tell_run(const DataChoice& data, std::ostream& out, const TellRun& tell);

// A run, and the file that it is stored in.
struct Stored {
  Run run;
  std::filesystem::path path;
};

// Another rank of this merge failed and reports why.
struct OtherRankFailed {};

// Merges the newest job of the folder and stores it, whatever was stored before. Throws Error if it
// cannot, or if a log cannot be read now. Several ranks share the work: each reads and links the
// whole job and packs its part of the columns, and the first one stores it.
Stored merge_and_store(const DataChoice& data, const Ranks& ranks);

}  // namespace uctrace::cli
