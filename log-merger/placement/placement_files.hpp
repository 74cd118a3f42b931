// A placement in the formats of launchers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "log-merger/placement/plan.hpp"

namespace uctrace {

// A file for a launcher, and what to type to use it.
struct PlacementFile {
  std::string name, content;
  std::string command;  // with only the name of the file; empty: none is needed
};

// For the proposed placement. Files that name cores exist only if the cores of all nodes are known
// and no core has two ranks.
std::vector<PlacementFile> placement_files(const PlacementPlan& plan);

// Writes them into a new folder. Throws Error if its name is taken.
void write_placement_files(const std::vector<PlacementFile>& files,
                           const std::filesystem::path& folder);

}  // namespace uctrace
