// The folder for a finished build, and the temporary folder beside it.
#pragma once

#include <filesystem>
#include <string>

#include "cli/build_ucx/configuration.hpp"

namespace uctrace::cli::build_ucx {

// The inputs of a build. Two builds of the same inputs are the same.
struct BuildInputs {
  std::string source;    // Source::name and identity
  std::string patch;     // its whole text
  Words wanted_options;  // of configure, before any was dropped
};

// Absolute; by default a folder of this version in the user's data folder. Throws Error for a path
// that UCX cannot be built for.
std::filesystem::path checked_prefix(const std::filesystem::path& given,
                                     const std::string& version);

enum class Standing : unsigned char {
  free,     // nothing is there, or an empty folder
  same,     // a build of these inputs
  other,    // a build of other inputs
  foreign,  // something that we did not build
};
Standing standing_of(const std::filesystem::path& prefix, const BuildInputs& inputs);

// Into the staged prefix, before it is moved in place.
void write_inputs(const std::filesystem::path& staged, const BuildInputs& inputs);

// Moves the staged build to its place; replaces an older build.
void put_in_place(const std::filesystem::path& staged, const std::filesystem::path& prefix);

// PREFIX.building. Removes leftovers of a killed build; is itself removed at the end unless it
// should be kept.
class WorkFolder {
 public:
  WorkFolder(const std::filesystem::path& prefix, bool keep);
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_;
};

}  // namespace uctrace::cli::build_ucx
