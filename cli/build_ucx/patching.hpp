// Applies patches/ucx-hooks.patch to a tree, whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/build_ucx/steps.hpp"

namespace uctrace::cli::build_ucx {

// The failures of `patch --dry-run`: "src/uct/api/uct.h, hunk 3".
std::vector<std::string> hunks_that_do_not_fit(const std::string& output);

// Throws Error if the tree is patched already or one hunk does not fit; it is unchanged then.
void apply_patch(const std::filesystem::path& patch, const std::filesystem::path& tree,
                 const std::string& name, Log& log);

}  // namespace uctrace::cli::build_ucx
