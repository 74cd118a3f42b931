// What overwrites nothing asks first, before it merges a run that it then could not write.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// Throws Error where something has this name, be it a link that leads nowhere. That it is still free
// later is for whoever makes it to see.
void require_new(const std::filesystem::path& path);

}  // namespace uctrace::cli
