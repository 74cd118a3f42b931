#include "cli/rebuilt_ucx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "event-log/reader/error.hpp"
#include "ucx-facts/library_names.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBuildOne = "build one with `uctrace build-ucx`, and give its prefix";

// The symbols that patches/ucx-hooks.patch adds to libraries.
constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
    {"libuct", "uct_tool_attach"}, {"libucp", "ucp_tool_dispatch"}};

bool holds(const fs::path& file, std::string_view word) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string name = std::string(1, '\0') + std::string(word) + std::string(1, '\0');
  return bytes.find(name) != std::string::npos;
}

fs::path file_of(const fs::path& folder, std::string_view library, std::string_view suffix) {
  return folder / fmt::format("{}{}.so.0", library, suffix);
}

// The suffix of the UCX that is complete in this folder: first none (""), then any that
// --with-soname-suffix added. nullopt: there is none.
std::optional<std::string> suffix_of(const fs::path& folder) {
  std::set<std::string> suffixes = {""};
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (const auto suffix = ucx::suffix_of(file, "libucp")) suffixes.emplace(*suffix);
  }
  const auto is_whole = [&](const std::string& suffix) {
    return std::all_of(std::begin(ucx::kLibraries), std::end(ucx::kLibraries),
                       [&](std::string_view library) {
                         std::error_code none;
                         return fs::is_regular_file(file_of(folder, library, suffix), none);
                       });
  };
  const auto found = std::find_if(suffixes.begin(), suffixes.end(), is_whole);
  return found == suffixes.end() ? std::nullopt : std::optional(*found);
}

struct Place {
  fs::path folder;
  std::string suffix;
};

// PREFIX/lib, PREFIX/lib64, PREFIX/lib/TRIPLET.
std::optional<Place> place_of_ucx(const fs::path& prefix) {
  std::vector<fs::path> folders = {prefix / "lib", prefix / "lib64"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix / "lib", error)) {
    folders.push_back(entry.path());
  }
  for (const fs::path& folder : folders) {
    if (const auto suffix = suffix_of(folder)) return Place{folder, *suffix};
  }
  return std::nullopt;
}

}  // namespace

RebuiltUcx find_rebuilt_ucx(const fs::path& prefix) {
  const std::string what = fmt::format("cannot record with the UCX of {}", prefix.string());
  std::error_code error;
  if (!fs::is_directory(prefix, error)) {
    throw Error({.what = what, .why = "there is no such folder", .to_do = kBuildOne});
  }
  const std::optional<Place> place = place_of_ucx(fs::canonical(prefix));
  if (!place) {
    throw Error({.what = what,
                 .why = fmt::format("its lib folder has not all of {}.so.0",
                                    fmt::join(ucx::kLibraries, ".so.0, ")),
                 .to_do = kBuildOne});
  }
  for (const auto& [library, mark] : kMarks) {
    const fs::path file = file_of(place->folder, library, place->suffix);
    if (!holds(file, mark)) {
      throw Error({.what = what,
                   .why = fmt::format("its {} was not built for uctrace: it has no {}",
                                      file.filename().string(), mark),
                   .to_do = fmt::format("{}; without --ucx it is recorded as it is", kBuildOne)});
    }
  }
  if (place->folder.string().find_first_of(" :") != std::string::npos) {
    throw Error({.what = what,
                 .why = "LD_PRELOAD takes no path with a space or colon",
                 .to_do = "name it by a link whose path has none, or build it elsewhere"});
  }
  RebuiltUcx ucx{.libraries = {},
                 .libuct = file_of(place->folder, "libuct", place->suffix).string()};
  for (const std::string_view library : ucx::kLibraries) {
    ucx.libraries.push_back(file_of(place->folder, library, place->suffix).string());
  }
  return ucx;
}

}  // namespace uctrace::cli
