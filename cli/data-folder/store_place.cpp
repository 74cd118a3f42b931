#include "cli/data-folder/store_place.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "event-log/format/fnv.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNameAnother = "name a folder that you may write to with --store DIR";

bool is_own(const fs::path& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         access(folder.c_str(), W_OK | X_OK) == 0;
}

fs::path home() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return home;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
}

// Empty if the user has no place for it.
fs::path cache_folder_of(const fs::path& data) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const fs::path base = cache != nullptr && *cache == '/' ? fs::path(cache) : home() / ".cache";
  if (!base.is_absolute()) return {};
  std::error_code error;
  const fs::path whole = fs::canonical(data, error);
  const auto identity = identity_of(whole);
  if (error || !identity) return {};
  // Only to tell folders apart, not for security.
  const std::uint64_t name = log::fnv64(whole.string() + '\n' + std::to_string(identity->inode));
  return base / "uctrace" / fmt::format("{:016x}", name);
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw Error({"cannot keep the merged run in '" + folder.string() + "'", why, kNameAnother});
}

void make_folders(const fs::path& folder, mode_t mode) {
  if (folder.empty() || mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return;
  if (errno == ENOENT && folder.has_parent_path() && folder != folder.parent_path()) {
    make_folders(folder.parent_path(), mode);
    if (mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return;
  }
  refuse(folder, std::error_code(errno, std::generic_category()).message());
}

// Never keep a run in a folder that others could have made or can change.
void make_private_folder(const fs::path& folder) {
  make_folders(folder, 0700);
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    refuse(folder, "it is a link or no folder");
  }
  if (status.st_uid != geteuid()) refuse(folder, "it is another user's");
  if ((status.st_mode & 022) != 0) refuse(folder, "others may write to it");
}

}  // namespace

StorePlace::StorePlace(const DataChoice& data) {
  if (!data.store.empty()) {
    folders_ = {data.store};
    named_ = true;
    return;
  }
  folders_ = {data.folder};
  if (is_own(data.folder)) return;
  in_cache_ = true;
  if (fs::path cache = cache_folder_of(data.folder); !cache.empty()) {
    folders_.push_back(std::move(cache));
  }
}

const fs::path& StorePlace::make_folder() {
  const fs::path& folder = folders_.back();
  if (in_cache_) {
    if (folders_.size() == 1) refuse(folder, "it is not yours, and you have no home folder");
    make_private_folder(folder.parent_path());
    make_private_folder(folder);
  } else if (named_) {
    make_folders(folder, 0777);
  }
  return folder;
}

SameFolder::SameFolder(fs::path folder) : path_(std::move(folder)), identity_(identity_of(path_)) {}

bool SameFolder::is_still_there() const { return are_same(identity_, identity_of(path_)); }

void require_replaceable(const fs::path& path, bool (*is_ours)(const fs::path&)) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || is_ours(path)) return;
  const bool regular = S_ISREG(status.st_mode);
  if (regular && lstat((path.parent_path() / kMarkerFile).c_str(), &status) == 0) return;
  throw Error({"cannot write '" + path.string() + "'",
               regular ? "a file of this name lies there that uctrace did not write"
                       : "what has this name is no regular file",
               "move it away, or name another place"});
}

}  // namespace uctrace::cli
