// Which run a verb speaks of.
#pragma once

#include <filesystem>
#include <string>

#include "cli/data-folder/default_folder.hpp"

namespace uctrace::cli {

// Which run a reading verb speaks of.
struct DataChoice {
  std::filesystem::path folder = default_folder();
  std::string job;              // empty = the newest
  std::filesystem::path store;  // folder of the merged run; empty = the data folder, or a cache
};

}  // namespace uctrace::cli
