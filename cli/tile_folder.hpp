// The folder of a page with tiles (docs/page-data.md#tiles): index.html and tiles/N.js. It never
// appears incomplete: it is made under a random name beside the final one, and renamed at the end.
// If the final name is taken, it is refused and nothing is touched.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "log-merger/folder/new_folder.hpp"

namespace uctrace::cli {

class TileFolder {
 public:
  // Throws Error if it cannot be made, or is refused.
  explicit TileFolder(const std::filesystem::path& wanted);

  // On any thread.
  void write_tile(std::size_t number, std::string_view script) const;
  // Writes the page and gives the folder its final name.
  void publish(std::string_view page);

 private:
  const std::filesystem::path wanted_;
  NewFolder folder_;
};

}  // namespace uctrace::cli
