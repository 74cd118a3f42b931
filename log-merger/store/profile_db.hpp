// profile.db: the profile of a run by its communicators, as one SQLite file. It holds the tables of
// mpisee, so that tools for those open it, and more (docs/profile.md).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "log-merger/model/model.hpp"

namespace uctrace {

inline constexpr int kProfileSchema = 1;  // PRAGMA user_version

// Writes it under another name and renames it into place, and removes what merges that were killed
// left of it. Throws Error.
// `before_publishing` as of save_store().
void save_profile(const Run& run, const std::filesystem::path& path,
                  const std::function<void()>& before_publishing = {});

// Whether a profile of uctrace lies there, of whichever schema.
bool is_profile(const std::filesystem::path& path);

// Run::store_id of the run that it was made of; empty where none lies there that can be read.
std::string store_id_of_profile(const std::filesystem::path& path);

}  // namespace uctrace
