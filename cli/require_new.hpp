// Refuses a name that is taken, before a run is merged, so that no work is lost.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// Throws Error where something has this name, even a link that leads nowhere. A slash at the end
// changes nothing. Whoever makes it must still see that the name is free.
void require_new(const std::filesystem::path& path);

}  // namespace uctrace::cli
