// Refuses a name that is taken before the run is merged, so no work is lost.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// Throws Error if something has this name, even a dangling link. A slash at the end changes
// nothing. The code that makes the file must still check that the name is free.
void require_new(const std::filesystem::path& path);

}  // namespace uctrace::cli
