// The command line of a job as its user typed it, from what `uctrace record` leaves in run.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace {

// As a shell would need it typed.
std::string shell_word(const std::string& text);
std::string shell_line(const std::vector<std::string>& words);

namespace merge {

// Whether the job with this key was started under the `uctrace record` with that key: one recording
// holds several jobs if a script starts several.
bool is_job_of(std::string_view job, std::string_view recording);

// Of the job with this key. Empty if run.json is of another job, or none: then ranks were started
// one by one, or the folder holds the logs alone. Throws log::FileError where it cannot be read.
std::string launcher_line(const std::filesystem::path& folder, std::string_view job);

}  // namespace merge
}  // namespace uctrace
