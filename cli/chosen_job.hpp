// Which job of a folder is looked at, and what is said where there is none: one answer for all who
// read counters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "log-merger/live/live_folder.hpp"

namespace uctrace::cli {

// The newest job where `key` is empty. Throws Error where there is none, or none of this name; what
// could not be read is told on standard error before that.
const live::Reading& chosen_job(const live::LiveFolder& jobs, const std::filesystem::path& folder,
                                const std::string& key);

// Files that cannot be read, a line each, on standard error.
void warn_of_unread(const live::LiveFolder& jobs);

// On standard error, if there are ranks of the job without counters.
void warn_of_missing_ranks(const std::vector<log::CounterSnapshot>& job);

// On standard error, where rows do not tell all: messages and names that found no room, and
// messages whose peer could not be named.
void warn_of_unnamed(const std::vector<log::CounterSnapshot>& job);

}  // namespace uctrace::cli
