// The files of a data folder from which a run is made. A merged run lists them (Run::sources), and
// is up to date as long as they are the same.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// Logs, what belongs to them, topologies and run.json in `folder`, as they are now, by name; their
// content is not read. Throws Error if the folder cannot be listed.
std::vector<Source> list_sources(const std::filesystem::path& folder);

bool is_log(const Source& source);
bool has_logs(std::span<const Source> sources);

// Threads to merge them with: one for each CPU that may be used, or `most` if that is not 0. A run
// of a few thousand events is merged faster than more threads start.
Workers workers_for(std::span<const Source> sources, std::size_t most,
                    Progress* progress = nullptr);

// Whether these are the same unchanged files. Uses no clock: a file that was changed, copied or
// replaced has another change time or inode. The device number is ignored, because it differs with
// each mount of a network file system.
bool same_files(std::span<const Source> a, std::span<const Source> b);

// Whether all of them are final and could be read.
bool are_settled(std::span<const Source> sources);

// How many could not be read, for a temporary reason.
std::size_t count_unreadable(std::span<const Source> sources);

// Remembers that the file of this name could not be read.
void note_unreadable(Run& run, std::string_view name, const log::FileError& error);

SourceState state_of(log::WriterState writer);
SourceState state_of(log::FileError::Cause cause);

}  // namespace uctrace
