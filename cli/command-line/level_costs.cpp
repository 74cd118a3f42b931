#include "cli/command-line/level_costs.hpp"

#include <charconv>
#include <cstdint>
#include <sstream>
#include <utility>

#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

[[noreturn]] void refuse(const std::string& text, std::string why) {
  throw Error({.what = "--cost " + text,
               .why = std::move(why),
               .to_do = "give numbers up to 1000000, as node=100,package=10,core=1"});
}

}  // namespace

placement::LevelCosts parse_level_costs(const std::string& text) {
  placement::LevelCosts costs;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ',')) {
    const std::size_t equals = part.find('=');
    const std::string level = part.substr(0, equals);
    std::uint32_t* const cost = level == "node"      ? &costs.node
                                : level == "package" ? &costs.package
                                : level == "core"    ? &costs.core
                                                     : nullptr;
    if (cost == nullptr || equals == std::string::npos) {
      refuse(text, "'" + part + "' is no cost of node, package or core");
    }
    const char* const begin = part.data() + equals + 1;
    const char* const end = part.data() + part.size();
    constexpr std::uint32_t kMost = 1'000'000;
    const auto [stopped, error] = std::from_chars(begin, end, *cost);
    if (error != std::errc() || stopped != end || *cost > kMost) {
      refuse(text, "'" + part + "' has no number up to 1000000");
    }
  }
  if (costs.node < costs.package || costs.package < costs.core) {
    refuse(text, "what is farther apart must not cost less");
  }
  return costs;
}

}  // namespace uctrace::cli
