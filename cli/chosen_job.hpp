// Chooses the job of a folder, and the message if there is none: the same for all verbs that read
// counters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "log-merger/live/live_folder.hpp"

namespace uctrace::cli {

// The newest job if `key` is empty. Throws Error if there is none, or none of this name; before
// that, unreadable files are reported on standard error.
const live::Reading& chosen_job(const live::LiveFolder& jobs, const std::filesystem::path& folder,
                                const std::string& key);

// Reports files that cannot be read on standard error, a line each.
void warn_of_unread(const live::LiveFolder& jobs);

// Reports ranks of the job without counters on standard error.
void warn_of_missing_ranks(const std::vector<log::CounterSnapshot>& job);

// Reports incomplete rows on standard error: messages and names that found no room, and messages
// whose peer could not be named.
void warn_of_unnamed(const std::vector<log::CounterSnapshot>& job);

}  // namespace uctrace::cli
