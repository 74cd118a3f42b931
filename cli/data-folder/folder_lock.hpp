// Several `record`s may begin in one folder at once. The one that holds its marker locked looks at
// it, and moves it or makes it its own; the others wait.
#pragma once

#include <cstdint>
#include <filesystem>

namespace uctrace::cli {

class FolderLock {
 public:
  enum class Result : std::uint8_t {
    locked,    // this process has the folder; where its file system has no locks, nobody has it
    changed,   // the folder is another one by now: look again
    busy,      // another process has it, and keeps it long
    unmarked,  // there is no marker and none can be made: error() says why
  };

  // Makes the marker where there is none. Never follows a link.
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

// The marker alone, for who moves nothing. 0 or errno.
int mark_folder(const std::filesystem::path& folder);

}  // namespace uctrace::cli
