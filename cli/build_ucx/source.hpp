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
  std::string identity;  // changes whenever what is built from it does
  UcxVersion version;    // one that the patch is made for

  std::string name() const;  // for people
};

// What SOURCE is; the package of the installed libucx if it is empty. Reads, and writes nothing.
// Throws Error, also for a UCX of another version than the patch is made for.
Source find_source(const std::filesystem::path& given);

// A copy of the sources as `folder`, which must not exist; what an earlier build left in them is
// not copied. `scratch` is an empty folder for what is needed on the way.
void unpack(const Source& source, const std::filesystem::path& folder,
            const std::filesystem::path& scratch, Log& log);

// Throws Error for sources that the patch is not made for; `name` is theirs.
UcxVersion require_patchable(const std::string& configure_ac, const std::string& name);
UcxVersion require_patchable(const UcxVersion& version, const std::string& name);

}  // namespace uctrace::cli::build_ucx
