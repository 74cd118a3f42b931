// Which folders `record` may use, told from what is in them (docs/folders.md). Nothing here changes
// anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace uctrace::cli {

// What there is at a path. Links are not followed, but for one that is the folder itself.
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

// A folder is the tool's own by its marker alone, and only as long as every entry of it is a file
// of uctrace by its name and a regular file (or the link to the library).
FolderVerdict judge(const Listing& listing);

// Why a folder cannot be renamed though its run is over: it is a link, a mount, or the current
// folder. Empty if nothing speaks against it.
std::string obstacle_to_renaming(const std::filesystem::path& folder);

}  // namespace uctrace::cli
