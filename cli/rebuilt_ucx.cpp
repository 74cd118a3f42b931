#include "cli/rebuilt_ucx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

// Each before what needs it.
constexpr const char* kLibraries[] = {"libucm.so.0", "libucs.so.0", "libuct.so.0", "libucp.so.0"};
constexpr const char* kLibuct = "libuct.so.0";

constexpr const char* kBuildOne = "build one with `uctrace build-ucx`, and give its prefix";

// What patches/ucx-hooks.patch adds to a library: a name in its table of symbols.
constexpr std::pair<const char*, std::string_view> kMarks[] = {
    {"libuct.so.0", "uct_tool_attach"}, {"libucp.so.0", "ucp_tool_dispatch"}};

bool holds(const fs::path& file, std::string_view word) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string name = std::string(1, '\0') + std::string(word) + std::string(1, '\0');
  return bytes.find(name) != std::string::npos;
}

bool holds_ucx(const fs::path& folder) {
  return std::all_of(std::begin(kLibraries), std::end(kLibraries), [&](const char* name) {
    std::error_code error;
    return fs::is_regular_file(folder / name, error);
  });
}

// PREFIX/lib, PREFIX/lib64, PREFIX/lib/TRIPLET; empty if none of them has UCX.
fs::path library_folder(const fs::path& prefix) {
  for (const char* name : {"lib", "lib64"}) {
    if (holds_ucx(prefix / name)) return prefix / name;
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix / "lib", error)) {
    if (holds_ucx(entry.path())) return entry.path();
  }
  return {};
}

}  // namespace

RebuiltUcx find_rebuilt_ucx(const fs::path& prefix) {
  const std::string what = fmt::format("cannot record with the UCX of {}", prefix.string());
  std::error_code error;
  if (!fs::is_directory(prefix, error)) {
    throw Error({.what = what, .why = "there is no such folder", .to_do = kBuildOne});
  }
  const fs::path folder = library_folder(fs::canonical(prefix));
  if (folder.empty()) {
    throw Error({.what = what,
                 .why = fmt::format("its lib folder has not all of {}, {}, {} and {}",
                                    kLibraries[0], kLibraries[1], kLibraries[2], kLibraries[3]),
                 .to_do = kBuildOne});
  }
  for (const auto& [library, mark] : kMarks) {
    if (!holds(folder / library, mark)) {
      throw Error(
          {.what = what,
           .why = fmt::format("its {} was not built for uctrace: it has no {}", library, mark),
           .to_do = fmt::format("{}; without --ucx it is recorded as it is", kBuildOne)});
    }
  }
  if (folder.string().find_first_of(" :") != std::string::npos) {
    throw Error({.what = what,
                 .why = "LD_PRELOAD takes no path with a space or colon",
                 .to_do = "name it by a link whose path has none, or build it elsewhere"});
  }
  RebuiltUcx ucx{.libraries = {}, .libuct = (folder / kLibuct).string()};
  for (const char* library : kLibraries) ucx.libraries.push_back((folder / library).string());
  return ucx;
}

}  // namespace uctrace::cli
