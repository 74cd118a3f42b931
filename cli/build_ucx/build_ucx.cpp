// The verb: from SOURCE to a prefix that `uctrace record --ucx` takes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/build_ucx/build.hpp"
#include "cli/build_ucx/patching.hpp"
#include "cli/build_ucx/prefix.hpp"
#include "cli/build_ucx/resources.hpp"
#include "cli/build_ucx/source.hpp"
#include "cli/build_ucx/tools.hpp"
#include "cli/check/child.hpp"
#include "cli/check/elf_file.hpp"
#include "cli/installation.hpp"
#include "cli/launching/program.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "ucx-facts/library_names.hpp"

namespace uctrace::cli {
namespace {

using namespace build_ucx;
namespace fs = std::filesystem;

// The options of UCX's own release script, plus threads: for a site without ucx_info.
const Words kReleaseOptions = {"--disable-logging", "--disable-debug", "--disable-assertions",
                               "--disable-params-check", "--enable-mt"};

void say(const std::string& line) { std::cerr << "uctrace: " << line << std::endl; }

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set))
                                                     : 1;
}

// --- the UCX of the site ---------------------------------------------------------------------

struct Site {
  fs::path ucx_info;  // empty if there is none
  UcxInfo info;
};

Site find_site(const fs::path& given) {
  const fs::path program = resolved_program(given.empty() ? "ucx_info" : given.string());
  Site site{.ucx_info = program, .info = {}};
  if (!program.empty()) {
    site.info = parse_ucx_info(check::run_child({program.string(), "-v"}).out);
    if (!site.info.version.empty()) return site;
  }
  if (!given.empty()) {
    throw Error({.what = "cannot ask the UCX of this site",
                 .why = fmt::format(
                     "{} {}", given.string(),
                     program.empty() ? "is no program" : "-v does not answer as ucx_info does"),
                 .to_do = "give the ucx_info of the UCX that jobs use here"});
  }
  return {};
}

// Modules are looked for beside libucs: only there can those without a device here be seen.
void add_modules(const fs::path& folder, Resources& resources) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    const std::string_view module = ucx::module_name(file);
    if (!module.empty()) resources.insert("module " + std::string(module));
  }
}

fs::path folder_of_libucs(const fs::path& ucx_info) {
  std::string why;
  const auto libraries = check::libraries_of(ucx_info, why);
  const check::LoadedLibrary* libucs = libraries ? check::find_ucx(*libraries, "libucs") : nullptr;
  return libucs != nullptr ? libucs->path.parent_path() : fs::path();
}

Resources resources_of(const fs::path& ucx_info, const fs::path& libraries) {
  check::ChildOptions options;
  if (!libraries.empty()) options.environment["LD_LIBRARY_PATH"] = libraries.string();
  Resources resources = parse_resources(check::run_child({ucx_info.string(), "-d"}, options).out);
  const fs::path folder = libraries.empty() ? folder_of_libucs(ucx_info) : libraries;
  if (!folder.empty()) add_modules(folder / "ucx", resources);
  return resources;
}

// --- the result -------------------------------------------------------------------------

void say_dropped(const std::vector<Dropped>& dropped) {
  for (const Dropped& option : dropped) {
    const std::string package = package_for(option.option + " " + option.why);
    say(fmt::format("left out {}: {}{}", option.option, option.why,
                    package.empty() ? "" : "; the package may be " + package));
  }
}

std::string list(const Resources& resources) {
  return resources.empty() ? "none" : fmt::format("{}", fmt::join(resources, ", "));
}

void say_resources(const Site& site, const fs::path& staged) {
  const Resources built = resources_of(staged / "bin/ucx_info", staged / "lib");
  if (site.ucx_info.empty()) {
    std::cout << "Transports, devices and modules: " << list(built) << "\n";
    return;
  }
  const ResourceChange change = compare(resources_of(site.ucx_info, ""), built);
  std::cout << fmt::format("Transports, devices and modules, compared with UCX {} of {}:\n",
                           site.info.version, site.ucx_info.string())
            << "  the same: " << list(change.same) << "\n"
            << "  missing:  " << list(change.missing) << "\n"
            << "  new:      " << list(change.added) << "\n";
}

void say_use(const fs::path& prefix) {
  std::cout << "Record over it: uctrace record --ucx " << shell_word(prefix.string())
            << " -- mpirun -np 4 ./app\n";
}

// The built UCX must report the version of its sources.
void require_alive(const fs::path& staged, const std::string& version, const Log& log) {
  check::ChildOptions options;
  options.environment["LD_LIBRARY_PATH"] = (staged / "lib").string();
  const auto said = check::run_child({(staged / "bin/ucx_info").string(), "-v"}, options);
  if (parse_ucx_info(said.out).version == version) return;
  throw Error({.what = "the UCX that was built does not run",
               .why = tail_of(said.err + said.out, 1),
               .to_do = "the whole output is in " + log.path().string()});
}

// --- the build -------------------------------------------------------------------------------

void require_free(const fs::path& prefix, Standing standing, bool replace) {
  if (standing == Standing::foreign) {
    throw Error({.what = "cannot build for " + prefix.string(),
                 .why = "what is there was not put there by `uctrace build-ucx`",
                 .to_do = "choose another place with --prefix DIR"});
  }
  if (standing == Standing::other && !replace) {
    throw Error({.what = "cannot build for " + prefix.string(),
                 .why = "it holds a build from other sources, with other options or of another "
                        "uctrace",
                 .to_do = "replace it with --replace, or choose another place with --prefix DIR"});
  }
}

Words wanted_options(const Site& site, const BuildUcxCommand& command) {
  Words options = site.ucx_info.empty() ? kReleaseOptions : site.info.options;
  options.insert(options.end(), command.configure.begin(), command.configure.end());
  return options;
}

std::string product(const BuildUcxCommand& command, const Source& source) {
  return fmt::format("UCX {}{}", source.version.text(),
                     command.unpatched ? " without hooks" : " with hooks");
}

void say_plan(const Source& source, const Site& site) {
  say(fmt::format("building UCX {} from {}", source.version.text(), source.name()));
  if (site.ucx_info.empty()) {
    say("there is no ucx_info in PATH: configured as UCX is released; --ucx-info FILE names one");
  } else {
    say(fmt::format("configured as UCX {} of {}", site.info.version, site.ucx_info.string()));
  }
}

void get_sources(const Source& source, const fs::path& tree, const fs::path& scratch, Log& log) {
  Progress progress("Getting the sources");
  fs::create_directory(scratch);
  unpack(source, tree, scratch, log);
  require_patchable(text_of(tree / "configure.ac"), source.name());
  progress.done();
}

void patch(const Source& source, const fs::path& tree, Log& log) {
  Progress progress("Patching");
  apply_patch(find_ucx_patch(), tree, source.name(), log);
  progress.done();
}

void build(const BuildUcxCommand& command, const Source& source, const Site& site,
           const BuildInputs& inputs, const fs::path& prefix, Log& log) {
  const WorkFolder work(prefix, command.keep);
  const BuildPlan plan{.tree = work.path() / "ucx",
                       .prefix = prefix,
                       .stage = work.path() / "stage",
                       .jobs = std::max<std::size_t>(1, command.jobs.value_or(cores()))};
  say_plan(source, site);
  get_sources(source, plan.tree, work.path() / "scratch", log);
  if (!command.unpatched) patch(source, plan.tree, log);
  Taken taken = options_for_here(inputs.wanted_options);
  say_dropped(taken.dropped);
  make_configure(plan, log);
  say_dropped(configure(plan, taken.options, log));
  compile(plan, log);
  const fs::path staged = stage(plan, log);
  require_alive(staged, source.version.text(), log);
  write_inputs(staged, inputs);
  throw_if_interrupted();
  put_in_place(staged, prefix);
  fs::rename(log.path(), prefix / "share/uctrace/build.log");
  std::cout << fmt::format("{} is in {}\n", product(command, source), prefix.string());
  say_resources(site, prefix);
  if (command.keep) std::cout << "Its build folder is kept: " << work.path().string() << "\n";
}

int build_or_find(const BuildUcxCommand& command) {
  const Source source = find_source(command.source);
  require_tools(source.kind);
  const Site site = find_site(command.ucx_info);
  const fs::path prefix = checked_prefix(command.prefix, source.version.text());
  const BuildInputs inputs{.source = source.name() + ": " + source.identity,
                           .patch = command.unpatched ? "" : text_of(find_ucx_patch()),
                           .wanted_options = wanted_options(site, command)};
  const Standing standing = standing_of(prefix, inputs);
  if (standing == Standing::same) {
    std::cout << fmt::format("{} is in {} already\n", product(command, source), prefix.string());
  } else {
    require_free(prefix, standing, command.replace);
    Log log(prefix.string() + ".log");
    try {
      build(command, source, site, inputs, prefix, log);
    } catch (const Interrupted&) {
      fs::remove(log.path());
      throw;
    }
  }
  if (!command.unpatched) say_use(prefix);
  return kOk;
}

}  // namespace

int run(const BuildUcxCommand& command) {
  const InterruptScope scope;
  try {
    return build_or_find(command);
  } catch (const Interrupted& interrupted) {
    say("interrupted; nothing of the build is left");
    return 128 + interrupted.signal;
  }
}

}  // namespace uctrace::cli
