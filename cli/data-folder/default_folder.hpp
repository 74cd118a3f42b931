// The default folder for the data of a run.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace uctrace::cli {

inline constexpr const char* kDefaultFolder = "uctrace.data";
// As shown in help and manual.
inline constexpr const char* kDefaultFolderText = "uctrace.data, in a batch job uctrace.data.JOBID";

// kDefaultFolder; in a job of Slurm, PBS, LSF or Flux with its id appended, so two batch jobs never
// share it.
std::filesystem::path default_folder();
// The same for a job whose environment `variable` reads; it returns nullptr for a variable that is
// not set.
std::filesystem::path default_folder(const std::function<const char*(const char*)>& variable);

// Throws Error that names the other default folders, if `folder` is the default one and missing and
// there are others.
void require_choice(const std::filesystem::path& folder);

}  // namespace uctrace::cli
