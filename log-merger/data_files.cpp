#include "log-merger/data_files.hpp"

#include <algorithm>
#include <iterator>

#include "event-log/file_layout.hpp"

namespace uctrace {
namespace {

constexpr std::string_view kWhole[] = {kMarkerFile,  kRunFile,  kStoreFile,
                                       kProfileFile, kPageFile, kLibraryLink};

bool has_suffix(std::string_view name, std::string_view suffix, std::string_view tail = "") {
  if (!name.ends_with(tail)) return false;
  name.remove_suffix(tail.size());
  return name.size() > suffix.size() && name.ends_with(suffix);
}

bool is_whole(std::string_view name) {
  return std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole) ||
         has_suffix(name, kLogSuffix) || has_suffix(name, kLogSuffix, log::kLiveSuffix) ||
         has_suffix(name, kTopologySuffix) || has_suffix(name, kTopologySuffix, ".part") ||
         has_suffix(name, kLeaseSuffix) || name.starts_with(kLauncherFilePrefix);
}

}  // namespace

bool is_data_file(std::string_view name) {
  if (is_whole(name)) return true;
  const std::size_t unfinished = name.rfind(kUnfinished);
  return unfinished != std::string_view::npos && is_whole(name.substr(0, unfinished));
}

}  // namespace uctrace
