#include "cli/data-folder/folder_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/file_identity.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

bool is_or_becomes(std::string_view name, std::string_view file) {
  return name == file || is_unfinished(name, file);
}

// NFS gives such a name to a file that was removed while open.
bool is_left_by_nfs(std::string_view name) { return name.starts_with(".nfs"); }

bool is_ours(const Listing::Entry& entry) {
  if (entry.type == fs::file_type::symlink) return is_or_becomes(entry.name, kLibraryLink);
  return entry.type == fs::file_type::regular &&
         (is_data_file(entry.name) || is_left_by_nfs(entry.name));
}

// Files that `record` itself needs in a folder are not part of a run.
bool is_of_a_run(const Listing::Entry& entry) {
  return !is_or_becomes(entry.name, kMarkerFile) && !is_or_becomes(entry.name, kLibraryLink) &&
         !entry.name.ends_with(kLeaseSuffix) &&
         entry.name.find(std::string(kLeaseSuffix) + kUnfinished) == std::string::npos &&
         !is_left_by_nfs(entry.name);
}

FolderVerdict foreign(std::string why) {
  return {.kind = FolderKind::foreign, .why = std::move(why)};
}

FolderVerdict judge_entries(const std::vector<Listing::Entry>& entries) {
  const bool marked = std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.name == kMarkerFile && entry.type == fs::file_type::regular;
  });
  // A marker that is being made is not somebody else's claim.
  const bool is_empty = std::all_of(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.type == fs::file_type::regular && is_unfinished(entry.name, kMarkerFile);
  });
  if (is_empty) return {.kind = FolderKind::empty};
  const auto stranger = std::find_if(entries.begin(), entries.end(),
                                     [](const auto& entry) { return !is_ours(entry); });
  if (stranger != entries.end()) {
    return foreign(fmt::format("it holds '{}', which is {}", stranger->name,
                               is_data_file(stranger->name) ? "no regular file" : "not uctrace's"));
  }
  if (!marked) {
    return foreign(fmt::format("it holds '{}' and no {}, so that `uctrace record` did not make it",
                               entries.front().name, kMarkerFile));
  }
  const bool has_run = std::any_of(entries.begin(), entries.end(), is_of_a_run);
  return {.kind = has_run ? FolderKind::older_run : FolderKind::ours};
}

}  // namespace

Listing list_folder(const fs::path& path) {
  Listing listing;
  std::error_code error;
  listing.is_link = fs::symlink_status(path, error).type() == fs::file_type::symlink;
  listing.type = fs::status(path, error).type();
  if (listing.type == fs::file_type::not_found) return listing;
  if (error) listing.unreadable = error.message();
  if (listing.type != fs::file_type::directory) return listing;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;  // one that disappears meanwhile has no type
    const fs::file_type type = it->symlink_status(ignored).type();
    if (type == fs::file_type::not_found) continue;
    listing.entries.push_back({it->path().filename().string(), type});
  }
  if (error) listing.unreadable = error.message();
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return listing;
}

FolderVerdict judge(const Listing& listing) {
  if (!listing.unreadable.empty()) return foreign("it cannot be read: " + listing.unreadable);
  if (listing.type == fs::file_type::not_found) {
    return listing.is_link ? foreign("it is a link to nothing") : FolderVerdict{};
  }
  if (listing.type != fs::file_type::directory) return foreign("it is not a folder");
  return judge_entries(listing.entries);
}

std::string obstacle_to_renaming(const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(folder, error)) return "is a link";
  const auto own = identity_of(folder), above = identity_of(folder / "..");
  if (!own || !above) return "";
  if (own->device != above->device || own == above) return "is the root of a file system";
  // It holds only files, so the current folder cannot be further below.
  return are_same(own, identity_of(fs::path("."))) ? "is the current folder" : "";
}

}  // namespace uctrace::cli
