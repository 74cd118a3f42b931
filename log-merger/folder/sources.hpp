// The files of a data folder that a run is made of. A merged run says which they were
// (Run::sources), and is the run of the folder as long as they are.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// Logs, what belongs to them, topologies and run.json in `folder`, as they are now, by name; what
// they are is not looked at. Throws Error where that cannot be found out.
std::vector<Source> list_sources(const std::filesystem::path& folder);

bool is_log(const Source& source);
bool has_logs(std::span<const Source> sources);

// Threads to merge them with: one for each CPU that may be used, or `most` if that is not 0. A run
// of a few thousand events is done sooner than further threads are made.
Workers workers_for(std::span<const Source> sources, std::size_t most,
                    Progress* progress = nullptr);

// Whether these are the same files, and none was changed. No clock is asked for that: a file that
// is changed, copied or replaced has another time of change, or another inode. The device is not
// looked at, which has another number each time that a network file system is mounted.
bool same_files(std::span<const Source> a, std::span<const Source> b);

// Whether nothing will be added to any of them, and each could be read.
bool are_settled(std::span<const Source> sources);

// How many could not be read, for a reason that may pass.
std::size_t count_unreadable(std::span<const Source> sources);

// Remembers that the file of this name could not be read.
void note_unreadable(Run& run, std::string_view name, const log::FileError& error);

SourceState state_of(log::WriterState writer);
SourceState state_of(log::FileError::Cause cause);

}  // namespace uctrace
