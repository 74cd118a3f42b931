// Which folders `record` may use, judged by their content (docs/folders.md). Nothing here changes
// anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace uctrace::cli {

// The content of a path. Links are not followed, except the folder itself.
struct Listing {
  struct Entry {
    std::string name;
    std::filesystem::file_type type;
  };
  std::filesystem::file_type type = std::filesystem::file_type::not_found;
  bool is_link = false;
  std::string unreadable;  // why it cannot be listed, empty if it can
  std::vector<Entry> entries;
};

Listing list_folder(const std::filesystem::path& path);

enum class FolderKind : std::uint8_t {
  missing,
  empty,      // holds nothing
  ours,       // has the marker, and no run
  older_run,  // has the marker, and files of a run
  foreign,    // anything else: `record` leaves it alone
};

struct FolderVerdict {
  FolderKind kind = FolderKind::missing;
  std::string why = {};  // of a foreign one
};

// Only its marker makes a folder uctrace's own, and only as long as every entry is a regular file
// (or the link to the library) with a name of uctrace.
FolderVerdict judge(const Listing& listing);

// Why a folder cannot be renamed although its run is over: it is a link, a mount, or the current
// folder. Empty if it can.
std::string obstacle_to_renaming(const std::filesystem::path& folder);

}  // namespace uctrace::cli
