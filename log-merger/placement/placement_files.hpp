// A placement in the words of launchers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "log-merger/placement/plan.hpp"

namespace uctrace {

// A file for a launcher, and what to type to use it.
struct PlacementFile {
  std::string name, content;
  std::string command;  // with the name of the file alone; empty: none is needed
};

// Of the proposed placement. Files that name cores are there only where the cores of all nodes are
// known and no core has two ranks.
std::vector<PlacementFile> placement_files(const PlacementPlan& plan);

// Writes them into a new folder. Throws Error where something has its name.
void write_placement_files(const std::vector<PlacementFile>& files,
                           const std::filesystem::path& folder);

}  // namespace uctrace
