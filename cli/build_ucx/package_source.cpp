#include "cli/build_ucx/package_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>

#include "cli/build_ucx/source_list.hpp"
#include "cli/check/child.hpp"
#include "cli/launching/program.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli::build_ucx {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGiveSource =
    "give the sources of the UCX that the job uses: uctrace build-ucx FOLDER, or a tarball";

// NAME='VALUE' lines of apt-config.
std::string apt_path(const std::string& key) {
  const auto result = check::run_child({"apt-config", "shell", "FOUND", key});
  const std::size_t begin = result.out.find('\''), end = result.out.rfind('\'');
  return begin == end ? "" : result.out.substr(begin + 1, end - begin - 1);
}

void add_list(const fs::path& file, const fs::path& folder) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const bool paragraphs = file.extension() == ".sources";
  const std::string sources =
      source_list_of(text.str(), paragraphs ? ListForm::paragraphs : ListForm::lines);
  if (!sources.empty()) std::ofstream(folder / file.filename()) << sources;
}

// The machine's repositories, with their mirrors, as source repositories.
void write_lists(const fs::path& folder) {
  fs::create_directories(folder);
  std::error_code error;
  const fs::path main = apt_path("Dir::Etc::SourceList/f");
  if (fs::is_regular_file(main, error)) add_list(main, folder);
  const fs::path parts = apt_path("Dir::Etc::SourceParts/d");
  for (fs::directory_iterator it(parts, error), end; !error && it != end; it.increment(error)) {
    const std::string kind = it->path().extension().string();
    if (kind == ".sources" || kind == ".list") add_list(it->path(), folder);
  }
}

class Apt {
 public:
  Apt(const fs::path& scratch, Log& log) : scratch_(scratch), log_(log) {
    write_lists(scratch / "lists.d");
    for (const char* name : {"state/lists/partial", "cache/archives/partial"}) {
      fs::create_directories(scratch / name);
    }
  }

  StepResult run(std::vector<std::string> words) {
    const std::vector<std::string> options = {
        "apt-get", "-o", "Dir::Etc::SourceList=/dev/null",
        // Our own folders for everything that apt writes.
        "-o", fmt::format("Dir::Etc::SourceParts={}", (scratch_ / "lists.d").string()), "-o",
        fmt::format("Dir::State={}", (scratch_ / "state").string()), "-o",
        fmt::format("Dir::State::Lists={}", (scratch_ / "state" / "lists").string()), "-o",
        fmt::format("Dir::Cache={}", (scratch_ / "cache").string()),
        // apt's sandbox user may not enter our folder.
        "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "-o",
        "Acquire::Languages=none"};
    words.insert(words.begin(), options.begin(), options.end());
    return log_.run({.words = words, .folder = scratch_, .environment = {{"LC_ALL", "C"}}});
  }

 private:
  fs::path scratch_;
  Log& log_;
};

std::string errors_in(const std::string& output) {
  std::vector<std::string> errors;
  for (const std::string& line : check::lines_of(output)) {
    if (line.starts_with("E: ") || line.starts_with("W: ")) errors.push_back(line.substr(3));
  }
  return errors.empty() ? tail_of(output, 1) : fmt::format("{}", fmt::join(errors, "; "));
}

[[noreturn]] void fail(const std::string& what, const std::string& why, const Log& log) {
  throw Error({.what = what,
               .why = why,
               .to_do = fmt::format("the whole output is in {}; without a mirror in reach, {}",
                                    log.path().string(), kGiveSource)});
}

}  // namespace

Source package_of_installed_ucx() {
  const auto refuse = [](const std::string& why) {
    throw Error(
        {.what = "there is no SOURCE, and none can be found", .why = why, .to_do = kGiveSource});
  };
  for (const char* program : {"dpkg-query", "apt-get", "apt-config"}) {
    if (find_program(program) != 0) {
      refuse(fmt::format(
          "this distribution has no {}, only packages of Debian and Ubuntu are known", program));
    }
  }
  const auto result =
      check::run_child({"dpkg-query", "-W", "-f",
                        "${source:Package} ${source:Version} ${db:Status-Status}\\n", "libucx0"});
  std::istringstream words(result.out);
  Source source{.kind = Source::Kind::package,
                .path = {},
                .package = {},
                .package_version = {},
                .identity = {},
                .version = {}};
  std::string status;
  words >> source.package >> source.package_version >> status;
  if (status != "installed") refuse("the package libucx0 is not installed");
  source.identity = source.package + " " + source.package_version;
  const std::string upstream =
      source.package_version.substr(source.package_version.find(':') + 1);  // npos + 1 = all
  const std::optional<UcxVersion> version = parse_release(upstream);
  if (!version) refuse(fmt::format("{} is no version of UCX", source.package_version));
  source.version = require_patchable(*version, source.name());
  return source;
}

void unpack_package(const std::string& package, const std::string& version, const fs::path& folder,
                    const fs::path& scratch, Log& log) {
  Apt apt(scratch, log);
  // A repository that cannot be read may not be the one that is needed: what counts is whether the
  // sources are found afterwards.
  const StepResult update = apt.run({"update"});
  const StepResult download =
      apt.run({"source", "--download-only", fmt::format("{}={}", package, version)});
  const std::string what = fmt::format("cannot get the sources of {} {}", package, version);
  if (download.status != 0) {
    fail(what, errors_in(update.status != 0 ? update.output : download.output), log);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch)) {
    if (entry.path().extension() != ".dsc") continue;
    const StepResult unpacked =
        log.run({.words = {"dpkg-source", "-x", entry.path().string(), folder.string()},
                 .folder = scratch,
                 .environment = {{"LC_ALL", "C"}}});
    if (unpacked.status != 0) fail(what, tail_of(unpacked.output, 1), log);
    return;
  }
  fail(what, "apt-get left no .dsc file", log);
}

}  // namespace uctrace::cli::build_ucx
