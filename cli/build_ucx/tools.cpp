#include "cli/build_ucx/tools.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "cli/launching/program.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

struct Tool {
  const char* program;
  const char* package;
  const char* variable = nullptr;  // names another program; configure obeys it, too
};
constexpr std::array kTools = {Tool{"gcc", "gcc", "CC"},     Tool{"g++", "g++", "CXX"},
                               Tool{"make", "make"},         Tool{"patch", "patch"},
                               Tool{"autoconf", "autoconf"}, Tool{"automake", "automake"},
                               Tool{"libtoolize", "libtool"}};
constexpr std::array kPackageTools = {Tool{"apt-get", "apt"}, Tool{"dpkg-source", "dpkg-dev"}};
constexpr std::array kTarballTools = {Tool{"tar", "tar"}};

bool is_there(const Tool& tool) {
  const char* named = tool.variable == nullptr ? nullptr : std::getenv(tool.variable);
  std::istringstream words(named != nullptr ? named : tool.program);
  std::string program;  // CC may be "ccache gcc"
  return words >> program && find_program(program) == 0;
}

}  // namespace

void require_tools(Source::Kind kind) {
  std::vector<std::string> programs, packages;
  const auto look_for = [&](const auto& tools) {
    for (const Tool& tool : tools) {
      if (is_there(tool)) continue;
      programs.push_back(tool.program);
      packages.push_back(tool.package);
    }
  };
  look_for(kTools);
  if (kind == Source::Kind::package) look_for(kPackageTools);
  if (kind == Source::Kind::tarball) look_for(kTarballTools);
  if (programs.empty()) return;
  throw Error({.what = "cannot build UCX",
               .why = fmt::format("not in PATH: {}", fmt::join(programs, ", ")),
               .to_do = fmt::format("install them, on Debian and Ubuntu with: apt-get install {}",
                                    fmt::join(packages, " "))});
}

}  // namespace uctrace::cli::build_ucx
