// A file that is written under another name until it is whole.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace uctrace {

// Names the file for `wanted`, and removes it where it was not renamed into place.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& wanted)
      : path_(wanted.string() + ".new-" + std::to_string(::getpid())) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace uctrace
