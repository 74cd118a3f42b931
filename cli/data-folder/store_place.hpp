// Where the merged run of a data folder lies: in the folder itself where that is the user's to
// write, in another one that is named by --store, or in a cache folder of the user's.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/data-folder/data_choice.hpp"
#include "log-merger/folder/file_identity.hpp"

namespace uctrace::cli {

class StorePlace {
 public:
  explicit StorePlace(const DataChoice& data);

  // Where a merged run is looked for.
  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  // Where a new one goes: the folder, which is made if it is missing. Throws Error where there is
  // none that can be trusted.
  const std::filesystem::path& make_folder();

 private:
  std::vector<std::filesystem::path> folders_;
  bool in_cache_ = false, named_ = false;  // of the last one, which is written to
};

// Whether the name of a folder still leads to the folder that it led to: `record` renames a folder
// that holds an older run, and makes a new one.
class SameFolder {
 public:
  explicit SameFolder(std::filesystem::path folder);
  bool is_still_there() const;

 private:
  std::filesystem::path path_;
  std::optional<FileIdentity> identity_;
};

// Throws Error where something lies at `path` that is not uctrace's: in a folder that `record` made
// its own all that has one of our names is, elsewhere what `is_ours` knows.
void require_replaceable(const std::filesystem::path& path,
                         bool (*is_ours)(const std::filesystem::path&));

}  // namespace uctrace::cli
