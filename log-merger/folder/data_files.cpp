#include "log-merger/folder/data_files.hpp"

#include <algorithm>
#include <iterator>

#include "event-log/format/counter_file.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace {
namespace {

constexpr std::string_view kWhole[] = {kMarkerFile,  kRunFile,  kStoreFile,
                                       kProfileFile, kPageFile, kLibraryLink};

bool has_suffix(std::string_view name, std::string_view suffix, std::string_view tail = "") {
  if (!name.ends_with(tail)) return false;
  name.remove_suffix(tail.size());
  return name.size() > suffix.size() && name.ends_with(suffix);
}

// No run is made of it: an identity compares it with the run.
bool is_counter_file(std::string_view name) { return has_suffix(name, log::kCounterSuffix); }

bool is_whole(std::string_view name) {
  return std::find(std::begin(kWhole), std::end(kWhole), name) != std::end(kWhole) ||
         is_log_file(name) || is_topology_file(name) || is_counter_file(name) ||
         has_suffix(name, kLeaseSuffix) || name.starts_with(kLauncherFilePrefix);
}

}  // namespace

bool is_log_file(std::string_view name) {
  return has_suffix(name, kLogSuffix) || has_suffix(name, kLogSuffix, log::kLiveSuffix);
}

bool is_topology_file(std::string_view name) {
  return has_suffix(name, kTopologySuffix) || has_suffix(name, kTopologySuffix, ".part");
}

bool is_data_file(std::string_view name) {
  if (is_whole(name)) return true;
  const std::size_t unfinished = name.rfind(kUnfinished);
  if (unfinished == std::string_view::npos) return false;
  const std::string_view file = name.substr(0, unfinished);
  return is_whole(file) && is_unfinished(name, file);
}

bool is_unfinished(std::string_view name, std::string_view file) {
  const std::string_view between = kUnfinished;
  if (!name.starts_with(file) || !name.substr(file.size()).starts_with(between)) return false;
  const std::string_view word = name.substr(file.size() + between.size());
  return word.size() == kUnfinishedWord && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
         });
}

}  // namespace uctrace
