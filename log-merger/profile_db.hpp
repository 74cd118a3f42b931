// profile.db: the profile of a run by its communicators, as one SQLite file. It holds the tables of
// mpisee, so that tools for those open it, and more (docs/profile.md).
#pragma once

#include <filesystem>

#include "log-merger/model.hpp"

namespace uctrace {

inline constexpr int kProfileSchema = 1;  // PRAGMA user_version

// Writes it beside `path` and renames it into place. Throws Error.
void save_profile(const Run& run, const std::filesystem::path& path);

}  // namespace uctrace
