// What is told where the files of a run cannot be written: whether room is what is missing.
#pragma once

#include <filesystem>
#include <string>

#include "event-log/reader/error.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

// `what` failed for `path`, because of `why`. Where its file system may have too little room, how
// much is free and how much the run takes at most: uncompressed.
Error no_store(const std::string& what, std::string why, const Run& run,
               const std::filesystem::path& path);

}  // namespace uctrace
