// Whether what is recorded in a folder may still be written to.
#pragma once

#include <filesystem>
#include <string>

namespace uctrace::cli {

// Why it may, in words that follow "because"; empty if nothing says so: all logs are closed, or
// their processes are gone or were not heard of for long, and so are those that hold a lease.
std::string sign_of_life(const std::filesystem::path& folder);

}  // namespace uctrace::cli
