// From a folder of logs to a Run: load, place on one clock, link peers, match messages, attribute
// UCT operations to UCP operations and those to MPI calls, lay out data paths, check identities.
//
// Everything of one job is held in memory: about 350 bytes an event.
#pragma once

#include <filesystem>
#include <string>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/log_set.hpp"
#include "log-merger/job/merge_options.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

// The logs of one job in `folder`: the one that the options name, else the newest. Of the others
// only whose they are. And which topologies of nodes are there. Throws Error where the folder
// cannot be read.
LogSet read_logs(const std::filesystem::path& folder, const MergeOptions& options);

// Throws Error where `logs` holds none.
Run merge_logs(LogSet logs, const MergeOptions& options);

// Both, and how the launcher was called. Logs that cannot be read are left out, with a note in the
// result; a damaged one is merged as far as it can be read.
Run merge_folder(const std::filesystem::path& folder, const MergeOptions& options);

}  // namespace uctrace
