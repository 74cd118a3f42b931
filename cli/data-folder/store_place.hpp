// The place of the merged run of a data folder: the folder itself if the user may write there, the
// folder named by --store, or a cache folder of the user.
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
  // The folder for a new one, made if missing. Throws Error if there is none that can be trusted.
  const std::filesystem::path& make_folder();

 private:
  std::vector<std::filesystem::path> folders_;
  bool in_cache_ = false, named_ = false;  // about the last one, which is written to
};

// Whether a name still leads to the same folder: `record` renames a folder with an older run and
// makes a new one.
class SameFolder {
 public:
  explicit SameFolder(std::filesystem::path folder);
  bool is_still_there() const;

 private:
  std::filesystem::path path_;
  std::optional<FileIdentity> identity_;
};

// Throws Error if `path` is something that is not uctrace's. In a folder that `record` made,
// everything with one of our names is ours; elsewhere `is_ours` decides.
void require_replaceable(const std::filesystem::path& path,
                         bool (*is_ours)(const std::filesystem::path&));

}  // namespace uctrace::cli
