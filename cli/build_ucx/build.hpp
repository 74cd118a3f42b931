// Configures, compiles and stages a UCX.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/build_ucx/configuration.hpp"
#include "cli/build_ucx/steps.hpp"

namespace uctrace::cli::build_ucx {

struct BuildPlan {
  std::filesystem::path tree;    // patched
  std::filesystem::path prefix;  // known to the libraries
  std::filesystem::path stage;   // an empty folder
  std::size_t jobs = 1;
};

// The options of every private build, whatever the site has.
Words own_options(const std::filesystem::path& prefix);

// Each returns once its step is done, and throws Error with the end of the log otherwise.
void make_configure(const BuildPlan& plan, Log& log);
// Removes options that cannot be satisfied here from `options`, and returns them.
std::vector<Dropped> configure(const BuildPlan& plan, Words& options, Log& log);
void compile(const BuildPlan& plan, Log& log);
// The prefix below plan.stage.
std::filesystem::path stage(const BuildPlan& plan, Log& log);

}  // namespace uctrace::cli::build_ucx
