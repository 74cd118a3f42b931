// From a folder of logs to a Run: load, place on one clock, link peers, match messages, attribute
// UCT operations to UCP operations and these to MPI calls, build data paths, check identities.
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

// Reads the logs of one job in `folder`: the one that the options name, else the newest. Of other
// logs it reads only the owner. Also lists the topologies of nodes. Throws Error if the folder
// cannot be read.
LogSet read_logs(const std::filesystem::path& folder, const MergeOptions& options);

// Throws Error if `logs` is empty.
Run merge_logs(LogSet logs, const MergeOptions& options);

// Both, plus the launcher's command line. Unreadable logs are left out, with a note in the result;
// a damaged log is merged as far as it can be read.
Run merge_folder(const std::filesystem::path& folder, const MergeOptions& options);

}  // namespace uctrace
