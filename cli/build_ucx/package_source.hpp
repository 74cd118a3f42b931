// The distribution's own sources of the UCX that is installed, by apt: with a list and with state
// of our own, since a machine seldom lists sources and the user need not be root. Signatures are
// checked as apt always does.
#pragma once

#include <filesystem>
#include <string>

#include "cli/build_ucx/source.hpp"

namespace uctrace::cli::build_ucx {

// Throws Error where the distribution has no apt, or libucx is not installed from it.
Source package_of_installed_ucx();

void unpack_package(const std::string& package, const std::string& version,
                    const std::filesystem::path& folder, const std::filesystem::path& scratch,
                    Log& log);

}  // namespace uctrace::cli::build_ucx
