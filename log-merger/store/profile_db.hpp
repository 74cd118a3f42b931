// profile.db: the profile of a run by its communicators, as one SQLite file. It has mpisee's
// tables, so that mpisee's tools can open it, and more (docs/profile.md).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "log-merger/model/model.hpp"

namespace uctrace {

inline constexpr int kProfileSchema = 1;  // PRAGMA user_version

// Writes it under another name and renames it into place, and removes leftovers of killed merges.
// Throws Error. `before_publishing` as of save_store().
void save_profile(const Run& run, const std::filesystem::path& path,
                  const std::function<void()>& before_publishing = {});

// Whether there is a profile of uctrace, of any schema.
bool is_profile(const std::filesystem::path& path);

// Run::store_id of its run; empty if there is no readable profile.
std::string store_id_of_profile(const std::filesystem::path& path);

}  // namespace uctrace
