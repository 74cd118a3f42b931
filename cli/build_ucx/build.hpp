// Configures, compiles and stages a UCX.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/build_ucx/configuration.hpp"
#include "cli/build_ucx/steps.hpp"

namespace uctrace::cli::build_ucx {

struct BuildPlan {
  std::filesystem::path tree;    // patched
  std::filesystem::path prefix;  // that the libraries will know
  std::filesystem::path stage;   // an empty folder
  std::size_t jobs = 1;
};

// What every private build is configured with, whatever the site has.
Words own_options(const std::filesystem::path& prefix);

// Each returns once its step is done, and throws Error with the end of the log otherwise.
void make_configure(const BuildPlan& plan, Log& log);
// An option that cannot be fulfilled here is taken out of `options`. Returns those.
std::vector<Dropped> configure(const BuildPlan& plan, Words& options, Log& log);
void compile(const BuildPlan& plan, Log& log);
// The prefix, as it lies below plan.stage.
std::filesystem::path stage(const BuildPlan& plan, Log& log);

}  // namespace uctrace::cli::build_ucx
