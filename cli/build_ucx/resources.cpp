#include "cli/build_ucx/resources.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/check/child.hpp"

namespace uctrace::cli::build_ucx {
namespace {

// "#      Transport: tcp" -> "tcp".
std::optional<std::string> value_of(const std::string& line, const std::string& key) {
  const std::size_t begin = line.find_first_not_of("# ");
  if (!line.starts_with("#") || begin == std::string::npos) return std::nullopt;
  if (line.compare(begin, key.size(), key) != 0) return std::nullopt;
  const std::size_t value = line.find_first_not_of(' ', begin + key.size());
  return value == std::string::npos ? "" : line.substr(value);
}

}  // namespace

Resources parse_resources(const std::string& ucx_info) {
  Resources resources;
  std::string component, transport;
  for (const std::string& line : check::lines_of(ucx_info)) {
    if (const auto name = value_of(line, "Component:")) component = *name;
    if (const auto name = value_of(line, "Transport:")) transport = *name;
    if (const auto device = value_of(line, "Device:")) resources.insert(transport + "/" + *device);
    if (line.find("< no supported devices found >") != std::string::npos) {
      resources.insert(component);
    }
    if (const auto manager = value_of(line, "Connection manager:")) {
      resources.insert("connections by " + *manager);
    }
    // It is there, but has no device here.
    if (const auto manager = value_of(line, "< failed to open connection manager")) {
      resources.insert("connections by " + manager->substr(0, manager->find(' ')));
    }
  }
  return resources;
}

ResourceChange compare(const Resources& before, const Resources& after) {
  ResourceChange change;
  const auto into = [](Resources& set) { return std::inserter(set, set.end()); };
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      into(change.missing));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), into(change.added));
  std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                        into(change.same));
  return change;
}

}  // namespace uctrace::cli::build_ucx
