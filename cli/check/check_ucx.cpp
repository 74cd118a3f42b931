// Tries one UCX for real: a program of uctrace exchanges messages through it and is recorded like a
// job. The recording is merged and must account for every message.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cli/check/checks.hpp"
#include "cli/check/child.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/data-folder/known_ucx.hpp"
#include "cli/data-folder/scratch_folder.hpp"
#include "cli/installation.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/reports/info_output.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

struct Trial {
  UcxFacts ucx;
  std::size_t sent = 0;
  bool done = false;
  std::string error;  // "ucp_init: No such device", empty if it finished
};

// "#  resource 0 : md 0 dev 0 flags -- self/memory0" -> "self/memory0".
std::string transport_in(const std::string& line) {
  if (!line.starts_with("#") || line.find(" resource ") == std::string::npos) return "";
  const std::size_t slash = line.rfind('/');
  const std::size_t space = line.rfind(' ', slash);
  return slash == std::string::npos || space == std::string::npos ? "" : line.substr(space + 1);
}

void read_line(const std::string& line, Trial& trial) {
  const auto value = [&](const char* key) -> std::optional<std::string> {
    const std::string beginning = std::string(key) + " ";
    if (!line.starts_with(beginning)) return std::nullopt;
    return line.substr(beginning.size());
  };
  if (const auto version = value("version")) trial.ucx.version = *version;
  if (const auto error = value("error"); error && trial.error.empty()) trial.error = *error;
  if (const auto sent = value("sent")) trial.sent = std::stoul(*sent);
  if (const auto library = value("library")) {
    const std::size_t space = library->find(' ');
    if (space != std::string::npos) {
      trial.ucx.libraries[library->substr(0, space)] = library->substr(space + 1);
    }
  }
  if (line.starts_with("UCX_") && line.find('=') != std::string::npos) {
    trial.ucx.settings[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  if (const std::string transport = transport_in(line); !transport.empty()) {
    trial.ucx.transports.insert(transport);
  }
  trial.done |= line == "done";
}

std::string in_front(const std::string& first, const std::string& list) {
  return list.empty() ? first : first + ":" + list;
}

Trial run_trial(const fs::path& program, const std::string& libucp, const fs::path& preload,
                const fs::path& folder) {
  ChildOptions options;
  options.environment["UCTRACE_DIR"] = folder.string();
  // Records everything, whatever part of the job is wanted: otherwise a missing record proves
  // nothing.
  options.unset = {"UCTRACE_JOB",     "UCTRACE_FALLBACK_DIR", "UCTRACE_LAYERS",
                   "UCTRACE_MAX_LOG", "UCTRACE_START_ON",     "UCTRACE_STOP_ON"};
  if (!preload.empty()) {
    options.environment["LD_PRELOAD"] = in_front(preload.string(), environment_value("LD_PRELOAD"));
  }
  // A UCX outside the system's folders must find its parts as it does in the job.
  if (const fs::path home = fs::path(libucp).parent_path(); !home.empty()) {
    options.environment["LD_LIBRARY_PATH"] =
        in_front(home.string(), environment_value("LD_LIBRARY_PATH"));
  }
  const ChildResult result = run_child({program.string(), libucp}, options);
  Trial trial;
  for (const std::string& line : lines_of(result.out)) read_line(line, trial);
  if (!trial.done && trial.error.empty()) {
    trial.error = result.timed_out ? "it did not end within 20 s"
                                   : fmt::format("it ended with status {}", result.status);
  }
  return trial;
}

// --- UCX's facts about itself -----------------------------------------------------------------

bool check_version(Findings& findings, const UcxFacts& ucx, const std::string& users) {
  unsigned major = 0, minor = 0;
  if (std::sscanf(ucx.version.c_str(), "%u.%u", &major, &minor) != 2) return false;
  const auto library = ucx.libraries.find("ucp");
  const std::string where = library == ucx.libraries.end() ? "" : " at " + library->second.string();
  if (ucx::find_release(major, minor) != nullptr) {
    findings.ok("ucx", fmt::format("UCX {}{}, for {}", ucx.version, where, users));
    return true;
  }
  findings.problem(
      kUcxVersion,
      {.found = fmt::format("UCX {}{}, for {}", ucx.version, where, users),
       .why = fmt::format("uctrace knows {} and turns its UCX layers off for others; MPI calls are "
                          "recorded",
                          known_ucx()),
       .fix = "put a UCX of these in front: export LD_LIBRARY_PATH=FOLDER/lib:$LD_LIBRARY_PATH"});
  return false;
}

void check_one_place(Findings& findings, const UcxFacts& ucx) {
  std::set<std::string> folders;
  std::error_code error;
  for (const auto& [name, path] : ucx.libraries) {
    folders.insert(fs::canonical(path, error).parent_path().string());
  }
  if (folders.size() < 2) return;
  findings.problem(
      kUcxMixed, {.found = fmt::format("libucp, libuct and libucs come from different folders: {}",
                                       fmt::join(folders, ", ")),
                  .why = "parts of two UCX do not fit together",
                  .fix = fmt::format("export LD_LIBRARY_PATH={}:$LD_LIBRARY_PATH",
                                     ucx.libraries.at("ucp").parent_path().string())});
}

void say_settings(Findings& findings, const UcxFacts& ucx) {
  std::vector<std::string> said;
  for (const char* name : {"UCX_TLS", "UCX_NET_DEVICES", "UCX_PROTO_ENABLE"}) {
    const auto setting = ucx.settings.find(name);
    if (setting == ucx.settings.end()) continue;
    said.push_back(fmt::format("{}={}", name, setting->second));
    if (std::string(name) != "UCX_PROTO_ENABLE") continue;
    said.back() += setting->second == "n" ? " (protocols v1)" : " (protocols v2)";
  }
  findings.ok("ucx", fmt::format("settings {}; transports {}", fmt::join(said, ", "),
                                 fmt::join(ucx.transports, ", ")));
}

// --- the result of the trial ------------------------------------------------------------------

std::string more_about(const fs::path& program, const std::string& libucp) {
  const std::string unset =
      environment_value("UCX_TLS").empty() && environment_value("UCX_NET_DEVICES").empty()
          ? ""
          : "unset UCX_TLS UCX_NET_DEVICES; if that is not it: ";
  return fmt::format("{}UCX_LOG_LEVEL=info {} {}", unset, shell_word(program.string()), libucp);
}

// Empty if every layer recorded; else the warning of `record`.
std::string missing_of(const JobLog& log) {
  if (log.processes.empty()) return "neither process left a log";
  const std::vector<std::string> lines = warnings(log, {});
  return lines.empty() ? "" : lines.front();
}

// Empty if everything is accounted for.
std::string gap_of(const Run& run, std::size_t sent) {
  if (run.messages.size() != sent) {
    return fmt::format("{} messages were sent and {} recorded", sent, run.messages.size());
  }
  const IdentityCount count = count_identities(run);
  if (run.identities.empty() || count.holds != run.identities.size()) return identities_line(run);
  for (const Message& message : run.messages) {
    if (message.bytes != 0 && message.hops == 0) {
      return fmt::format("a message of {} B has no path", message.bytes);
    }
  }
  return "";
}

void check_recording(Findings& findings, const fs::path& folder, const Trial& trial) {
  const std::string missing = missing_of(read_job_log(folder, ""));
  if (!missing.empty()) {
    findings.problem(kTrialNotRecorded,
                     {.found = "the trial ran but was not recorded in full",
                      .why = missing,
                      .fix = "the page docs/troubleshooting.md explains this message"});
    return;
  }
  const Run run = merge_folder(folder, {});
  const std::string gap = gap_of(run, trial.sent);
  if (!gap.empty()) {
    findings.problem(kTrialAccounts,
                     {.found = "the recording of the trial does not account for all of it",
                      .why = gap,
                      .fix = "report it together with the version of UCX and UCX_* settings"});
    return;
  }
  std::set<std::string> transports;
  for (const Hop& hop : run.hops) transports.insert(run.texts[hop.transport]);
  findings.ok("trial", fmt::format("{} messages of two processes over {}; {}", run.messages.size(),
                                   fmt::join(transports, ", "), identities_line(run)));
}

}  // namespace

UcxFacts check_ucx(Findings& findings, const std::string& libucp, const std::string& users,
                   const fs::path& preload) {
  const fs::path program = find_self_test();
  const ScratchFolder folder;
  if (program.empty() || folder.path().empty()) {
    findings.warning(kTrialMissing,
                     {.found = "UCX was not tried out",
                      .why = program.empty() ? "uctrace-ucx-test is neither beside uctrace nor in "
                                               "../libexec/uctrace"
                                             : "no folder can be made in TMPDIR",
                      .fix = program.empty() ? "ninja -C build, or meson install -C build"
                                             : "export TMPDIR=FOLDER, one that you may write to"});
    return {};
  }
  const Trial trial = run_trial(program, libucp, preload, folder.path());
  if (trial.error.starts_with("open: ")) {
    findings.problem(kUcxMissing,
                     {.found = fmt::format("{} cannot be loaded, for {}", libucp, users),
                      .why = trial.error.substr(6),
                      .fix = "apt-get install libucx0, module load ucx, or "
                             "export LD_LIBRARY_PATH=FOLDER/lib:$LD_LIBRARY_PATH"});
    return trial.ucx;
  }
  const bool known = check_version(findings, trial.ucx, users);
  check_one_place(findings, trial.ucx);
  say_settings(findings, trial.ucx);
  if (!trial.done) {
    findings.problem(kTrialFailed,
                     {.found = "two processes could not exchange messages over this UCX",
                      .why = trial.error,
                      .fix = more_about(program, libucp)});
    return trial.ucx;
  }
  if (!known || preload.empty()) return trial.ucx;
  try {
    check_recording(findings, folder.path(), trial);
  } catch (const Error& error) {
    findings.problem(kTrialAccounts, {.found = "the recording of the trial cannot be read",
                                      .why = error.problem().what + ": " + error.problem().why,
                                      .fix = error.problem().to_do});
  }
  return trial.ucx;
}

}  // namespace uctrace::cli::check
