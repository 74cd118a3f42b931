// A private temporary folder.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// Removes the files of uctrace in `path`, and the folder if it is empty then; else errno says why
// it is not. Never goes into folders, never follows links.
bool remove_scratch_folder(const std::filesystem::path& path);

// Under TMPDIR; removed at the end of its scope with uctrace's files in it. Other files in it stay
// and are reported. Its path is empty if it could not be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace uctrace::cli
