// Which job of a folder is looked at, and what is said where there is none: one answer for all who
// read counters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "event-log/reader/counter_file.hpp"

namespace uctrace::live {

// The job of the process that began last: a folder may be shared with an older one. Empty where
// there is no process.
std::string newest_job(const std::vector<log::CounterSnapshot>& processes);

// Why a folder shows nothing: one line that says what to do. Never returns.
[[noreturn]] void refuse_without_counters(const std::filesystem::path& folder);

}  // namespace uctrace::live
