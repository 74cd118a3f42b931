#include "cli/tile_folder.hpp"

#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/page-data/page_tiles.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexFile = "index.html";
constexpr const char* kTilesFolder = "tiles";

template <typename Work>
auto or_refuse_folder(const fs::path& wanted, Work work) {
  try {
    return work();
  } catch (const std::system_error& error) {
    throw Error({.what = "cannot write the folder '" + wanted.string() + "'",
                 .why = error.code().message(),
                 .to_do = "name another one with -o DIR"});
  }
}

void write_new_file(const fs::path& path, std::string_view text) {
  NewFile file(path);
  file.write(text);
  file.publish_new();
}

}  // namespace

TileFolder::TileFolder(const fs::path& wanted)
    : wanted_(wanted), folder_(or_refuse_folder(wanted, [&] { return NewFolder(wanted); })) {
  or_refuse_folder(wanted_, [&] { fs::create_directory(folder_.path() / kTilesFolder); });
}

void TileFolder::write_tile(std::size_t number, std::string_view script) const {
  or_refuse_folder(
      wanted_, [&] { write_new_file(folder_.path() / kTilesFolder / tile_name(number), script); });
}

void TileFolder::publish(std::string_view page) {
  or_refuse_folder(wanted_, [&] {
    write_new_file(folder_.path() / kIndexFile, page);
    folder_.publish();
  });
}

}  // namespace uctrace::cli
