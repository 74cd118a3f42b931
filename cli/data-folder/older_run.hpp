// Moves an older run out of the way: one rename to an unused number. Deletes and replaces nothing.
#pragma once

#include <filesystem>
#include <system_error>

namespace uctrace::cli {

struct MovedRun {
  std::filesystem::path to;    // where it is now, empty if it stays
  std::error_code error = {};  // why it stays
};

// `folder` becomes `folder`.old.N, N one more than the highest there is.
MovedRun move_older_run(const std::filesystem::path& folder);

// Renames such a folder back, unless its old name is taken by now.
bool move_back(const std::filesystem::path& from, const std::filesystem::path& folder);

}  // namespace uctrace::cli
