// Gets the distribution's sources of the installed UCX by apt. Uses our own list and state, because
// few machines list sources and the user may not be root. apt checks signatures as always.
#pragma once

#include <filesystem>
#include <string>

#include "cli/build_ucx/source.hpp"

namespace uctrace::cli::build_ucx {

// Throws Error if the distribution has no apt, or libucx is not installed from it.
Source package_of_installed_ucx();

void unpack_package(const std::string& package, const std::string& version,
                    const std::filesystem::path& folder, const std::filesystem::path& scratch,
                    Log& log);

}  // namespace uctrace::cli::build_ucx
