#include "cli/build_ucx/patching.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "cli/check/child.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

namespace fs = std::filesystem;

// In the header of every patched UCX, for all versions of the patch.
constexpr const char* kSign = "uct_tool_ops";

bool is_patched(const fs::path& tree) {
  std::ostringstream text;
  text << std::ifstream(tree / "src/uct/api/uct.h", std::ios::binary).rdbuf();
  return text.str().find(kSign) != std::string::npos;
}

}  // namespace

std::vector<std::string> hunks_that_do_not_fit(const std::string& output) {
  std::vector<std::string> hunks;
  std::string file;
  static const std::regex checking("^checking file '?(.*?)'?$");
  static const std::regex failed("^Hunk #([0-9]+) FAILED");
  static const std::regex missing("^\\|\\+\\+\\+ (?:b/)?([^\t]*)");
  for (const std::string& line : check::lines_of(output)) {
    std::smatch match;
    if (std::regex_search(line, match, checking)) file = match[1];
    if (std::regex_search(line, match, failed)) {
      hunks.push_back(fmt::format("{}, hunk {}", file, match[1].str()));
    }
    // A missing file: patch quotes the header of its part.
    if (std::regex_search(line, match, missing)) {
      hunks.push_back(fmt::format("{}, which is missing", match[1].str()));
    }
  }
  return hunks;
}

void apply_patch(const fs::path& patch, const fs::path& tree, const std::string& name, Log& log) {
  const std::string what = fmt::format("cannot patch {}", name);
  if (is_patched(tree)) {
    throw Error({.what = what,
                 .why = "it is patched already: its uct.h has " + std::string(kSign),
                 .to_do = "give the sources as they were released"});
  }
  const auto run_patch = [&](std::vector<std::string> options) {
    std::vector<std::string> words = {
        "patch", "-p1", "--force", "--no-backup-if-mismatch", "--input", patch.string()};
    words.insert(words.end(), options.begin(), options.end());
    return log.run({.words = words, .folder = tree, .environment = {{"LC_ALL", "C"}}});
  };
  StepResult result = run_patch({"--dry-run"});
  if (result.status == 0) result = run_patch({});
  if (result.status == 0) return;
  const std::vector<std::string> hunks = hunks_that_do_not_fit(result.output);
  throw Error({.what = what,
               .why = hunks.empty() ? tail_of(result.output, 1)
                                    : fmt::format("{} does not fit: {}", patch.filename().string(),
                                                  fmt::join(hunks, "; ")),
               .to_do = "give the sources as they were released; changes of your own to these "
                        "places must be taken out first"});
}

}  // namespace uctrace::cli::build_ucx
