// A file that is only read. What is not a regular file is never waited for: opening a pipe, or
// reading a device, may take for ever. For offline code.
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

// A file that cannot be read, or not as what it should be.
class FileError : public Error {
 public:
  // foreign: it is no such file, and will never be one. unfinished: it may be once it is whole.
  // system: it could not be read now, as for lack of a permission or of memory.
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
  // is_open() and failure() say how that went.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  bool is_open() const { return fd_ >= 0; }
  bool is_missing() const;
  // Of what failed last; `name` stands for the file.
  FileError failure(const std::string& name) const;
  // How a library that wants a path opens this very file; `path` where there is no /proc.
  std::string path_to_open(const std::string& path) const;

  // Whether the open file has the size and the time of change that it had when it was opened. What
  // takes its place under its name leaves it as it is.
  bool is_unchanged() const;
  // Of the open file, now. Nothing: failure() says why.
  std::optional<std::size_t> size();
  // Its parts from `from` on that are no holes, whole words each. Only of a file that takes much
  // less room than its size: not every file system tells holes of one that is being written right.
  std::vector<Extent> data(std::size_t from);
  // Bytes read from `offset` on: fewer than `bytes` if the file ends there. Nothing: it failed.
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

// The whole text of a file of at most `most` bytes; nothing where there is no such file. Throws
// FileError where there is one, and it cannot be had.
std::optional<std::string> read_text(const std::string& path, std::size_t most);

}  // namespace uctrace::log
