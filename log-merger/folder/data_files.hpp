// Names of the files that uctrace puts into a data folder. Nothing else in such a folder is ever
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
    "libuctrace.so";                           // where the library's own path cannot be loaded
inline constexpr char kLogSuffix[] = ".ulog";  // one a process, and beside it ".live"
inline constexpr char kTopologySuffix[] =
    ".topology.xml";                              // one a node; ".part" while it is written
inline constexpr char kLeaseSuffix[] = ".lease";  // one a `record` that is at work
inline constexpr char kLauncherFilePrefix[] =
    "launcher-file-";  // edited copies of what its line names
// Between the name of a file and a random word of that many letters and digits, until it is whole.
inline constexpr char kUnfinished[] = ".uctrace-new-";
inline constexpr std::size_t kUnfinishedWord = 12;

// A log or what belongs to it; the topology of a node, also one that is being written.
bool is_log_file(std::string_view name);
bool is_topology_file(std::string_view name);

// Whether a file of this name in a data folder is one of the above.
bool is_data_file(std::string_view name);

// Whether this is the name of a file that becomes `file` once it is whole.
bool is_unfinished(std::string_view name, std::string_view file);

}  // namespace uctrace
