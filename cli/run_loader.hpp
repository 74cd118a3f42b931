// The merged run behind a reading verb.
#pragma once

#include "cli/command_line.hpp"
#include "log-merger/model.hpp"

namespace uctrace::cli {

// The merged run, in the data folder.
inline constexpr const char* kStoreFile = "run.h5";

// Its profile by communicators, beside it.
inline constexpr const char* kProfileFile = "profile.db";

// From the store where it is up to date, else merged from the logs and stored. A run of a job
// named by hand, or one that cannot be stored (a warning says so), is merged in memory. Throws
// Error for a folder without a run.
Run load_run(const DataChoice& data);

// Merges the newest job of `folder` and stores it, whatever was stored before.
Run merge_and_store(const std::filesystem::path& folder);

}  // namespace uctrace::cli
