// The command line of a job as the user typed it, from run.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace {

// Quoted for a shell.
std::string shell_word(const std::string& text);
std::string shell_line(const std::vector<std::string>& words);

namespace merge {

// Whether the job with this key was started under the `uctrace record` with that key: a recorded
// script may start several jobs.
bool is_job_of(std::string_view job, std::string_view recording);

// Of the job with this key. Empty if run.json is missing or belongs to another job: then ranks were
// started one by one, or the folder has only the logs. Throws log::FileError if it cannot be read.
std::string launcher_line(const std::filesystem::path& folder, std::string_view job);

}  // namespace merge
}  // namespace uctrace
