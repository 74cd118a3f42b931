// The folder that a build is put into, and what lies beside it meanwhile.
#pragma once

#include <filesystem>
#include <string>

#include "cli/build_ucx/configuration.hpp"

namespace uctrace::cli::build_ucx {

// What a build was made of. Two builds of the same inputs are the same.
struct BuildInputs {
  std::string source;    // Source::name and identity
  std::string patch;     // its whole text
  Words wanted_options;  // of configure, before any was dropped
};

// Absolute; where nothing is given, a folder of this version in the user's own data folder. Throws
// Error for a place that UCX cannot be built for.
std::filesystem::path checked_prefix(const std::filesystem::path& given,
                                     const std::string& version);

enum class Standing : unsigned char {
  free,     // nothing is there, or an empty folder
  same,     // a build of these inputs
  other,    // a build of other inputs
  foreign,  // something that is no build of ours
};
Standing standing_of(const std::filesystem::path& prefix, const BuildInputs& inputs);

// Into the staged prefix, before it is moved in place.
void write_inputs(const std::filesystem::path& staged, const BuildInputs& inputs);

// Moves the staged build to its place, of an older build too, which is then gone.
void put_in_place(const std::filesystem::path& staged, const std::filesystem::path& prefix);

// PREFIX.building, with its leftovers of a build that was killed removed; it is removed at the end
// unless it is to be kept.
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
