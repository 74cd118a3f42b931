// Names of the files that uctrace puts into a data folder. No other file in such a folder is ever
// removed, renamed or overwritten (docs/folders.md).
#pragma once

#include <cstddef>
#include <string_view>

namespace uctrace {

inline constexpr char kMarkerFile[] =
    "uctrace.folder";  // says that `record` made the folder its own
// What is in it, for people: its name is what counts.
inline constexpr char kMarkerText[] =
    "uctrace data folder, layout 1\n"
    "`uctrace record` made this folder. It may rename it, and deletes nothing in it.\n";
inline constexpr char kRunFile[] = "run.json";        // how the job was started
inline constexpr char kStoreFile[] = "run.h5";        // the merged run
inline constexpr char kProfileFile[] = "profile.db";  // its profile by communicators
inline constexpr char kPageFile[] = "report.html";    // its page
inline constexpr char kLibraryLink[] =
    "libuctrace.so";                           // if the library's own path cannot be loaded
inline constexpr char kLogSuffix[] = ".ulog";  // one per process, with ".live" beside it
inline constexpr char kTopologySuffix[] =
    ".topology.xml";                              // one per node; ".part" while it is written
inline constexpr char kLeaseSuffix[] = ".lease";  // one per running `record`
inline constexpr char kLauncherFilePrefix[] =
    "launcher-file-";  // edited copies of what its line names
// Comes between the name of an unfinished file and a random word of that many letters and digits.
inline constexpr char kUnfinished[] = ".uctrace-new-";
inline constexpr std::size_t kUnfinishedWord = 12;

// A log or a file that belongs to it; the topology of a node, also an unfinished one.
bool is_log_file(std::string_view name);
bool is_topology_file(std::string_view name);

// Whether a file of this name in a data folder is one of the above.
bool is_data_file(std::string_view name);

// Whether this is the temporary name of a file that becomes `file`.
bool is_unfinished(std::string_view name, std::string_view file);

}  // namespace uctrace
