#include "cli/launching/launch.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/launching/program.hpp"
#include "event-log/reader/error.hpp"
#include "launcher-line/identify.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionTime{5};

// Set by a launcher for each process that it starts.
constexpr const char* kRanks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
                                  "PALS_RANKID",          "FLUX_TASK_RANK", "ALPS_APP_PE"};

std::optional<std::string> variable(const std::string& name) {
  const char* value = getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// Plain files only: a pipe can be read only once, and that is for the launcher.
std::optional<std::string> text_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return std::nullopt;
  return text;
}

bool write_copies(const std::vector<launcher::Copy>& copies) {
  return std::all_of(copies.begin(), copies.end(), [](const launcher::Copy& copy) {
    try {
      NewFile file(copy.path);
      file.write(copy.text);
      file.publish();
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  });
}

bool is_preloadable(const fs::path& path) {
  return path.string().find_first_of(" :") == std::string::npos;
}

// Anyone who can write to the folder could have another library loaded.
bool is_nobody_elses(const fs::path& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & S_IWOTH) == 0;
}

// Several processes may make the same link at once.
bool link_at(const fs::path& link, const fs::path& target) {
  std::error_code error;
  if (fs::read_symlink(link, error) == target && !error) return true;
  const fs::path fresh =
      fmt::format("{}{}{:0{}}", link.string(), kUnfinished, getpid(), kUnfinishedWord);
  fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  if (error) {
    std::error_code ignored;
    fs::remove(fresh, ignored);
  }
  return !error;
}

}  // namespace

LaunchLine read_launch_line(const std::vector<std::string>& words) {
  LaunchLine line{.words = words, .prefix = launcher::find_prefix(words)};
  line.kind = launcher::identify(
      words[line.prefix.command],
      {.resolved = [](const std::string& name) { return resolved_program(name).string(); },
       .version =
           [](const std::string& name) {
             return output_of({name, "--version"}, kVersionTime);
           }});
  return line;
}

bool is_behind_launcher(const LaunchLine& line) {
  // An interactive shell under srun, or a batch script, starts launchers but is itself a task.
  const bool is_slurm_task = variable("SLURM_PROCID") && variable("SLURM_STEP_ID");
  if (line.kind != launcher::Kind::none || variable("SLURM_PTY_PORT")) return false;
  return is_slurm_task || std::any_of(std::begin(kRanks), std::end(kRanks),
                                      [](const char* name) { return variable(name).has_value(); });
}

bool speaks_for_its_host() {
  constexpr const char* kRanksOnHost[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID",
                                          "SLURM_LOCALID"};
  std::optional<std::string> rank;
  for (const char* name : kRanksOnHost) {
    if (!rank) rank = variable(name);
  }
  for (const char* name : kRanks) {
    if (!rank) rank = variable(name);
  }
  return rank.value_or("0") == "0";
}

bool is_recorded_already() {
  std::string preloaded = variable("LD_PRELOAD").value_or("");
  std::replace(preloaded.begin(), preloaded.end(), ':', ' ');
  std::istringstream paths(preloaded);
  const bool is_loaded = std::any_of(
      std::istream_iterator<std::string>(paths), std::istream_iterator<std::string>(),
      [](const std::string& path) { return fs::path(path).filename() == kLibraryLink; });
  return is_loaded && variable("UCTRACE_JOB") && variable("UCTRACE_DIR");
}

std::string preloadable(const fs::path& library, const std::vector<fs::path>& folders) {
  if (is_preloadable(library)) return library.string();
  for (const fs::path& folder : folders) {
    const fs::path link = folder / kLibraryLink;
    if (!folder.empty() && is_preloadable(folder) && is_nobody_elses(folder) &&
        link_at(link, library)) {
      return link.string();
    }
  }
  throw Error({.what = "cannot load " + library.string(),
               .why = "LD_PRELOAD takes no path with a space or colon, and neither the data folder "
                      "nor TMPDIR can hold a link to it",
               .to_do = "record into a folder without them with -o DIR, or put uctrace into one"});
}

launcher::Edit set_up(const LaunchLine& line, const launcher::Wanted& wanted, bool may_edit) {
  const launcher::Surroundings around{.variable = variable, .file = text_of};
  const auto edit_as = [&](launcher::Kind kind) {
    return launcher::edit_line(line.words, kind, line.prefix, wanted, around);
  };
  launcher::Edit edit = edit_as(may_edit ? line.kind : launcher::Kind::none);
  if (!write_copies(edit.copies)) {
    edit = edit_as(launcher::Kind::none);
    edit.unclear = fmt::format("an edited copy of a file that it names cannot be written to {}",
                               wanted.copies.parent_path().string());
  }
  if (!may_edit) edit.words = line.words;
  for (const launcher::Variable& change : edit.environment) {
    setenv(change.name.c_str(), change.value.c_str(), 1);
  }
  return edit;
}

}  // namespace uctrace::cli
