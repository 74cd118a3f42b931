// Where the data of a run lies if nobody says.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace uctrace::cli {

inline constexpr const char* kDefaultFolder = "uctrace.data";
// As help and manual say it.
inline constexpr const char* kDefaultFolderText = "uctrace.data, in a batch job uctrace.data.JOBID";

// kDefaultFolder, in a job of Slurm, PBS, LSF or Flux with its id behind it, so that two batch jobs
// never share it.
std::filesystem::path default_folder();
// The same of a job in whose environment `variable` looks; it returns nullptr where there is none.
std::filesystem::path default_folder(const std::function<const char*(const char*)>& variable);

// Throws Error if `folder` is the default one and missing, but others of its kind are there, and
// names them.
void require_choice(const std::filesystem::path& folder);

}  // namespace uctrace::cli
