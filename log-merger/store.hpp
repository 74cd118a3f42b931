// The store: one HDF5 file that holds a merged run, described in docs/store-schema.md.
//
// Threads: HDF5 is entered by one thread at a time; callers see to it. Both functions throw
// uctrace::Error.
#pragma once

#include <filesystem>

#include "log-merger/model.hpp"

namespace uctrace {

// Writes `run` beside `path` and renames it into place, so that `path` is never half written.
void save_store(const Run& run, const std::filesystem::path& path);

// Reads a whole store. What it returns is consistent, however damaged the file was: every text id,
// process, message and range of hops lies within its table, and enumerations have known values.
Run load_store(const std::filesystem::path& path);

}  // namespace uctrace
