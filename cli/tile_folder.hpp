// The folder of a page with tiles (docs/page-data.md#tiles): index.html and tiles/N.js. Nobody
// takes it for whole until it is: it is made under a random name beside the one that is wanted,
// which it gets at the end. What has that name already is refused, and never touched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "log-merger/folder/new_folder.hpp"

namespace uctrace::cli {

class TileFolder {
 public:
  // Throws Error where it cannot be made, or is refused.
  explicit TileFolder(const std::filesystem::path& wanted);

  // By any thread.
  void write_tile(std::size_t number, std::string_view script) const;
  // Writes the page, and gives the folder its name.
  void publish(std::string_view page);

 private:
  const std::filesystem::path wanted_;
  NewFolder folder_;
};

}  // namespace uctrace::cli
