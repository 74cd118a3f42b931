// The choice of a run by the folder and the options --job, --store, --threads and --memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/data-folder/default_folder.hpp"

namespace uctrace::cli {

struct DataChoice {
  std::filesystem::path folder = default_folder();
  std::string job;                 // empty = the newest
  std::filesystem::path store;     // folder of the merged run; empty = the data folder, or a cache
  std::size_t threads = 0;         // most threads that merge it; 0 = one per CPU
  std::uint64_t memory_bytes = 0;  // that a merge may take; 0 = most of what is available
};

}  // namespace uctrace::cli
