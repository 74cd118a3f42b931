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

// From the store where it is that of what lies in the folder, else merged from the logs and stored.
// A run of a job named by hand, and one that cannot be stored or of which a log cannot be read now
// (a warning says so), is merged in memory, with all rows. Throws Error for a folder without a run.
Run load_run(const DataChoice& data, Rows rows = Rows::all);

// The same for who needs no more of the rows than it reads: of a store no more is loaded. Where
// that turns out to be damaged on the way and the logs are there, they are merged and told in its
// place; what is out by then is not written again.
using TellRun = std::function<void(std::ostream& out, const RowSource& rows)>;
void tell_run(const DataChoice& data, std::ostream& out, const TellRun& tell);

// A run, and the file that it is stored in.
struct Stored {
  Run run;
  std::filesystem::path path;
};

// Another rank of this merge failed, and tells why.
struct OtherRankFailed {};

// Merges the newest job of the folder and stores it, whatever was stored before. Throws Error where
// it cannot, or where a log cannot be read now. Several ranks share the work, and the first one
// stores it: each reads and links the whole job, and packs its part of the columns.
Stored merge_and_store(const DataChoice& data, const Ranks& ranks);

}  // namespace uctrace::cli
