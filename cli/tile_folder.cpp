#include "cli/tile_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "cli/failure_text.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/page-data/page_data.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexFile = "index.html";
constexpr const char* kTilesFolder = "tiles";

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& why) {
  throw Error({.what = "cannot write the folder '" + folder.string() + "'",
               .why = why,
               .to_do = "name another one with -o DIR"});
}

mode_t kind_at(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

std::vector<fs::path> entries_at(const fs::path& folder) {
  std::vector<fs::path> entries;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      entries.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    refuse_folder(folder, error.code().message());
  }
  return entries;
}

// Throws Error, of the folder that is wanted, unless this is an entry that TileFolder writes.
void require_own_entry(const fs::path& wanted, const fs::path& entry, bool is_ours) {
  if (is_ours) return;
  refuse_folder(wanted,
                "'" + entry.string() + "' lies there, which uctrace view --tiles did not write");
}

void require_older_page(const fs::path& wanted) {
  const mode_t kind = kind_at(wanted);
  if (kind == 0) return;
  if (kind != S_IFDIR) refuse_folder(wanted, "what has this name is no folder");
  for (const fs::path& entry : entries_at(wanted)) {
    const bool is_index = entry.filename() == kIndexFile && kind_at(entry) == S_IFREG &&
                          is_page(entry) && kind_at(wanted / kTilesFolder) == S_IFDIR;
    const bool is_tiles = entry.filename() == kTilesFolder && kind_at(entry) == S_IFDIR;
    require_own_entry(wanted, entry, is_index || is_tiles);
    if (!is_tiles) continue;
    for (const fs::path& tile : entries_at(entry)) {
      require_own_entry(
          wanted, tile,
          is_tile_name(tile.filename().string()) && kind_at(tile) == S_IFREG && is_tile(tile));
    }
  }
}

// What somebody has put there meanwhile stays, with the folder.
bool remove_older_page(const fs::path& folder) {
  const fs::path tiles = folder / kTilesFolder;
  std::error_code error;
  std::vector<fs::path> ours;
  for (fs::directory_iterator it(tiles, error), end; !error && it != end; it.increment(error)) {
    if (is_tile_name(it->path().filename().string())) ours.push_back(it->path());
  }
  for (const fs::path& tile : ours) unlink(tile.c_str());
  rmdir(tiles.c_str());
  unlink((folder / kIndexFile).c_str());
  return rmdir(folder.c_str()) == 0;
}

template <typename Work>
auto or_refuse_folder(const fs::path& wanted, Work work) {
  try {
    return work();
  } catch (const std::system_error& error) {
    refuse_folder(wanted, error.code().message());
  }
}

void write_new_file(const fs::path& path, std::string_view text) {
  NewFile file(path);
  file.write(text);
  file.publish_new();
}

}  // namespace

TileFolder::TileFolder(const fs::path& wanted)
    : wanted_(wanted), folder_(or_refuse_folder(wanted, [&] {
        require_older_page(wanted);
        return NewFolder(wanted, NewFolder::InPlace());
      })) {
  or_refuse_folder(wanted_, [&] { fs::create_directory(folder_.path() / kTilesFolder); });
}

void TileFolder::write_tile(std::size_t number, std::string_view script) const {
  or_refuse_folder(
      wanted_, [&] { write_new_file(folder_.path() / kTilesFolder / tile_name(number), script); });
}

void TileFolder::publish(std::string_view page) {
  const fs::path older = or_refuse_folder(wanted_, [&] {
    write_new_file(folder_.path() / kIndexFile, page);
    require_older_page(wanted_);
    return folder_.publish_in_place();
  });
  if (older.empty() || remove_older_page(older)) return;
  warn("the older page is not all removed", "something else lies in '" + older.string() + "'");
}

}  // namespace uctrace::cli
