// Where the sources of a UCX come from: a folder, a tarball, or the distribution's package.
#pragma once

#include <filesystem>
#include <string>

#include "cli/build_ucx/configuration.hpp"
#include "cli/build_ucx/steps.hpp"

namespace uctrace::cli::build_ucx {

struct Source {
  enum class Kind : unsigned char { folder, tarball, package };
  Kind kind = Kind::folder;
  std::filesystem::path path;  // of a folder or tarball, absolute
  std::string package, package_version;
  std::string identity;  // changes whenever the build would
  UcxVersion version;    // one that the patch supports

  std::string name() const;  // for people
};

// Resolves SOURCE; if it is empty, the package of the installed libucx. Writes nothing. Throws
// Error, also for a version of UCX that the patch does not support.
Source find_source(const std::filesystem::path& given);

// Copies the sources to `folder`, which must not exist, without products of earlier builds.
// `scratch` is an empty folder for intermediate files.
void unpack(const Source& source, const std::filesystem::path& folder,
            const std::filesystem::path& scratch, Log& log);

// Throws Error for sources that the patch does not support; `name` names them.
UcxVersion require_patchable(const std::string& configure_ac, const std::string& name);
UcxVersion require_patchable(const UcxVersion& version, const std::string& name);

}  // namespace uctrace::cli::build_ucx
