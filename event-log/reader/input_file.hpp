// A file opened for reading. Only regular files are opened: opening a pipe or reading a device may
// block for ever. For offline code.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event-log/reader/error.hpp"

namespace uctrace::log {

// A file that cannot be read, or is not of the expected kind.
class FileError : public Error {
 public:
  // foreign: not such a file, and it never will be. unfinished: it may become one once it is
  // complete. system: it could not be read now, for lack of permission or memory.
  enum class Cause : std::uint8_t { foreign, unfinished, system };
  FileError(Cause cause, Problem problem) : Error(std::move(problem)), cause_(cause) {}
  Cause cause() const { return cause_; }

 private:
  Cause cause_;
};

// A part of a file: [begin, end).
struct Extent {
  std::size_t begin = 0, end = 0;
  bool operator==(const Extent&) const = default;
};

class InputFile {
 public:
  // is_open() and failure() tell the result.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  bool is_open() const { return fd_ >= 0; }
  bool is_missing() const;
  // The error of the last failure; `name` stands for the file.
  FileError failure(const std::string& name) const;
  // A path by which a library can open this very file; `path` if there is no /proc.
  std::string path_to_open(const std::string& path) const;

  // Whether the open file still has the size and the time of change that it had when it was opened.
  // A file that takes over its name does not change it.
  bool is_unchanged() const;
  // The present size of the open file. Nothing: failure() says why.
  std::optional<std::size_t> size();
  // Its parts from `from` on that are not holes, in whole words. Only for a file that takes much
  // less room than its size: some file systems report wrong holes for a file that is being written.
  std::vector<Extent> data(std::size_t from);
  // How many bytes were read from `offset` on; fewer than `bytes` if the file ends. Nothing: it
  // failed.
  std::optional<std::size_t> read(void* to, std::size_t bytes, std::size_t offset);

 private:
  struct Version {
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Version&) const = default;
  };
  static Version version_of(const struct stat& status);

  int fd_ = -1;
  int error_ = 0;  // 0: it is not a regular file
  Version opened_;
};

// The whole text of a file of at most `most` bytes; nothing if there is no such file. Throws
// FileError if it exists and cannot be read.
std::optional<std::string> read_text(const std::string& path, std::size_t most);

}  // namespace uctrace::log
