// Whether processes may still write to the logs of a folder.
#pragma once

#include <filesystem>
#include <string>

namespace uctrace::cli {

// Why they may, in words that follow "because". Empty if nothing says so: all logs are closed, or
// their processes are gone or silent for long, and so are the holders of leases.
std::string sign_of_life(const std::filesystem::path& folder);

}  // namespace uctrace::cli
