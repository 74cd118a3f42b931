#include "cli/build_ucx/build.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesShown = 15;

// The tree is not in a repository of UCX, but may be in one of the user's.
const std::map<std::string, std::string> kEnvironment = {{"LC_ALL", "C"},
                                                         {"GIT_DIR", "/nonexistent"}};

// What a compiler or configure said first is the cause; the lines after it follow from it.
std::string cause_in(const std::string& output) {
  for (const char* sign : {"configure: error:", "fatal error:", " error: ", "error: possibly"}) {
    const std::size_t at = output.find(sign);
    if (at == std::string::npos) continue;
    const std::size_t begin = output.rfind('\n', at) + 1;
    return output.substr(begin, output.find('\n', at) - begin);
  }
  return tail_of(output, 1);
}

[[noreturn]] void fail(const std::string& what, const StepResult& result, Log& log) {
  const std::string cause = cause_in(result.output);
  const std::string package = package_for(cause);
  fmt::print(stderr, "\n{}\n\n", tail_of(result.output, kLinesShown));
  throw Error({.what = what,
               .why = cause,
               .to_do = fmt::format(
                   "{}the whole output is in {}",
                   package.empty() ? "" : "the package that is missing may be " + package + "; ",
                   log.path().string())});
}

StepResult run_configure(const BuildPlan& plan, const Words& options, Log& log,
                         Progress& progress) {
  Words words = {"./configure"};
  for (const std::string& option : own_options(plan.prefix)) words.push_back(option);
  words.insert(words.end(), options.begin(), options.end());
  std::size_t checks = 0;
  return log.run({.words = words, .folder = plan.tree, .environment = kEnvironment},
                 [&](const std::string& line) {
                   if (line.starts_with("checking ")) {
                     progress.show(fmt::format("{} checks", ++checks));
                   }
                 });
}

// A compiler newer than these sources has warnings that were not known then.
void add_no_error(Words& options) {
  for (const std::string variable : {"CFLAGS=", "CXXFLAGS="}) {
    const auto flags = std::find_if(options.begin(), options.end(), [&](const std::string& word) {
      return word.starts_with(variable);
    });
    if (flags == options.end()) {
      options.push_back(variable + "-Wno-error");
    } else {
      *flags += " -Wno-error";
    }
  }
}

}  // namespace

Words own_options(const fs::path& prefix) {
  return {"--prefix=" + prefix.string(),
          "--libdir=" + (prefix / "lib").string(),
          "--disable-maintainer-mode",
          "--disable-dependency-tracking",
          "--disable-static",
          "--disable-examples",
          "--disable-doxygen-doc",
          "--without-java",
          "--without-go"};
}

void make_configure(const BuildPlan& plan, Log& log) {
  Progress progress("Making configure");
  for (const char* folder : {"config/m4", "config/aux"}) fs::create_directories(plan.tree / folder);
  const StepResult result = log.run({.words = {"autoreconf", "--install", "--force", "--verbose"},
                                     .folder = plan.tree,
                                     .environment = kEnvironment});
  if (result.status != 0) fail("cannot make configure", result, log);
  progress.done();
}

std::vector<Dropped> configure(const BuildPlan& plan, Words& options, Log& log) {
  std::vector<Dropped> dropped;
  add_no_error(options);
  Progress progress("Configuring");
  while (true) {
    const StepResult result = run_configure(plan, options, log, progress);
    if (result.status == 0) {
      for (const Dropped& option : left_out(result.output, options)) {
        dropped.push_back(option);
        std::erase(options, option.option);
      }
      break;
    }
    const Complaint complaint = complaint_in(result.output, options);
    if (!complaint.option) fail("cannot configure UCX", result, log);
    const auto refused = options.begin() + static_cast<std::ptrdiff_t>(*complaint.option);
    dropped.push_back({*refused, complaint.message});
    options.erase(refused);
  }
  progress.done();
  return dropped;
}

void compile(const BuildPlan& plan, Log& log) {
  Progress progress("Compiling");
  std::size_t files = 0;
  const StepResult result = log.run({.words = {"make", fmt::format("-j{}", plan.jobs), "V=0"},
                                     .folder = plan.tree,
                                     .environment = kEnvironment},
                                    [&](const std::string& line) {
                                      if (line.starts_with("  CC ") || line.starts_with("  CXX "))
                                        ++files;
                                      progress.show(fmt::format("{} files", files));
                                    });
  if (result.status != 0) fail("cannot compile UCX", result, log);
  progress.done(fmt::format("{} files", files));
}

fs::path stage(const BuildPlan& plan, Log& log) {
  Progress progress("Installing");
  const StepResult result =
      log.run({.words = {"make", "V=0", "install", "DESTDIR=" + plan.stage.string()},
               .folder = plan.tree,
               .environment = kEnvironment});
  if (result.status != 0) fail("cannot install UCX", result, log);
  progress.done();
  return plan.stage / plan.prefix.relative_path();
}

}  // namespace uctrace::cli::build_ucx
