#include "cli/build_ucx/prefix.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwn = "share/uctrace";
constexpr const char* kInputs = "inputs.json";
constexpr const char* kPatch = "ucx-hooks.patch";
constexpr std::uintmax_t kRoomNeeded = 512u << 20;

fs::path default_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && data[0] == '/') {
    return fs::path(data) / "uctrace";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    throw Error({.what = "there is no place for the build",
                 .why = "HOME is not set",
                 .to_do = "give one with --prefix DIR"});
  }
  return fs::path(home) / ".local/share/uctrace";
}

std::string as_json(const BuildInputs& inputs) {
  const nlohmann::ordered_json json = {{"source", inputs.source},
                                       {"options", inputs.wanted_options}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// make, the shell and LD_PRELOAD split words at these characters.
constexpr const char* kDividing = " \t\n:;'\"\\$&()<>*?[]#|`~%=";

}  // namespace

fs::path checked_prefix(const fs::path& given, const std::string& version) {
  const fs::path prefix = given.empty() ? default_folder() / ("ucx-" + version)
                                        : fs::absolute(given).lexically_normal();
  std::string text = prefix.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  if (text.find_first_of(kDividing) != std::string::npos) {
    throw Error({.what = "cannot build for " + text,
                 .why = "UCX's build and LD_PRELOAD cannot do with a space or one of "
                        ":;'\"\\$&()<>*?[]#|`~%= in a path",
                 .to_do = "choose another place with --prefix DIR"});
  }
  std::error_code error;
  fs::create_directories(fs::path(text).parent_path(), error);
  const fs::space_info space = fs::space(fs::path(text).parent_path(), error);
  if (error) {
    throw Error({.what = "cannot build for " + text,
                 .why = error.message(),
                 .to_do = "choose another place with --prefix DIR"});
  }
  if (space.available < kRoomNeeded) {
    throw Error({.what = "cannot build for " + text,
                 .why = fmt::format("only {} MiB are left there, and a build takes {}",
                                    space.available >> 20, kRoomNeeded >> 20),
                 .to_do = "make room, or choose another place with --prefix DIR"});
  }
  return text;
}

Standing standing_of(const fs::path& prefix, const BuildInputs& inputs) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(prefix, error)) ||
      (fs::is_directory(prefix, error) && fs::is_empty(prefix, error))) {
    return Standing::free;
  }
  const fs::path own = prefix / kOwn;
  if (!fs::is_regular_file(own / kInputs, error)) return Standing::foreign;
  const bool same =
      text_of(own / kInputs) == as_json(inputs) && text_of(own / kPatch) == inputs.patch;
  return same ? Standing::same : Standing::other;
}

void write_inputs(const fs::path& staged, const BuildInputs& inputs) {
  fs::create_directories(staged / kOwn);
  std::ofstream(staged / kOwn / kPatch, std::ios::binary) << inputs.patch;
  std::ofstream json(staged / kOwn / kInputs, std::ios::binary);
  if (!(json << as_json(inputs)).flush()) {
    throw Error({.what = "cannot write into " + staged.string(),
                 .why = "the disk is full",
                 .to_do = "make room, or choose another place with --prefix DIR"});
  }
}

void put_in_place(const fs::path& staged, const fs::path& prefix) {
  const fs::path old = staged.string() + ".old";
  std::error_code error;
  fs::rename(prefix, old, error);  // if there is one; it is removed with the work folder
  fs::rename(staged, prefix);
}

WorkFolder::WorkFolder(const fs::path& prefix, bool keep)
    : path_(prefix.string() + ".building"), keep_(keep) {
  std::error_code error;
  fs::remove_all(path_, error);
  if (!fs::create_directory(path_, error)) {
    throw Error({.what = "cannot build in " + path_.string(),
                 .why = error ? error.message() : "something is there that cannot be removed",
                 .to_do = "choose another place with --prefix DIR"});
  }
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (!keep_) fs::remove_all(path_, error);
}

}  // namespace uctrace::cli::build_ucx
