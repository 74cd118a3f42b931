// What the options --job and --store and the folder say of the run that is read.
#pragma once

#include <filesystem>
#include <string>

#include "cli/data-folder/default_folder.hpp"

namespace uctrace::cli {

struct DataChoice {
  std::filesystem::path folder = default_folder();
  std::string job;              // empty = the newest
  std::filesystem::path store;  // folder of the merged run; empty = the data folder, or a cache
};

}  // namespace uctrace::cli
