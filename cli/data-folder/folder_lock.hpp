// Several `record`s may begin in one folder at once. The one that holds the lock on its marker
// examines it, and moves it or takes it over; the others wait.
#pragma once

#include <cstdint>
#include <filesystem>

namespace uctrace::cli {

class FolderLock {
 public:
  enum class Result : std::uint8_t {
    locked,    // this process has the folder; without locks in the file system, nobody has it
    changed,   // the folder was replaced: examine it again
    busy,      // another process holds it for long
    unmarked,  // there is no marker and none can be made: error() says why
  };

  // Makes the marker if there is none. Never follows a link.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  Result result() const { return result_; }
  int error() const { return error_; }

 private:
  int fd_ = -1;
  int error_ = 0;
  Result result_ = Result::unmarked;
};

// Only makes the marker, for callers that move nothing. 0 or errno.
int mark_folder(const std::filesystem::path& folder);

}  // namespace uctrace::cli
