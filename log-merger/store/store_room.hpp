// The error for files of a run that cannot be written: whether room is missing.
#pragma once

#include <filesystem>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

// `what` failed for `path`, because of `why`. If its file system may lack room, also says how much
// is free and how much the run takes at most (uncompressed).
Error no_store(const std::string& what, std::string why, const Run& run,
               const std::filesystem::path& path);

}  // namespace uctrace
