#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <thread>

#include "cli/counter_profiles.hpp"
#include "cli/data-folder/data_folder.hpp"
#include "cli/data-folder/default_folder.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/data-folder/kept_counters.hpp"
#include "cli/data-folder/scratch_folder.hpp"
#include "cli/failure_text.hpp"
#include "cli/installation.hpp"
#include "cli/launching/launch.hpp"
#include "cli/launching/program.hpp"
#include "cli/launching/run_program.hpp"
#include "cli/rebuilt_ucx.hpp"
#include "cli/record_words.hpp"
#include "cli/verbs.hpp"
#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/plain_text.hpp"
#include "event-log/recorder/job_key.hpp"
#include "event-log/recorder/recording.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/reports/counter_files.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string random_key() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::uint64_t realtime_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

int status_of_errno(int error) { return error == ENOENT ? kNotFound : kNotExecutable; }

int report_not_run(const std::string& program, int error) {
  say(Error({.what = "cannot run '" + program + "'",
             .why = std::strerror(error),
             .to_do = error == ENOENT ? "check its name and PATH"
                                      : "check that it is a program you may execute"})
          .message());
  return status_of_errno(error);
}

// It shows how the job is started on each host.
void say_edit(const LaunchLine& line, const launcher::Edit& edit, bool verbose) {
  if (!edit.unclear.empty()) {
    say_warning(
        fmt::format("the launcher's line is used as it is: {}; if ranks on other hosts are not "
                    "recorded, put uctrace behind the launcher: `{} ... uctrace record -o DIR -- "
                    "PROGRAM`",
                    edit.unclear, line.words[line.prefix.command]));
  }
  if (!verbose) return;
  for (const launcher::Variable& change : edit.environment) {
    say(fmt::format("{}={}", change.name, change.value));
  }
  if (edit.is_edited) say("running " + shell_line(edit.words));
}

RebuiltUcx wanted_ucx(const RecordCommand& command) {
  return command.ucx.empty() ? RebuiltUcx{} : find_rebuilt_ucx(command.ucx);
}

// After the library of uctrace, whose functions must come before UCX's. The shim compares the
// loaded UCX with the variable.
void add(const RebuiltUcx& ucx, launcher::Wanted& wanted) {
  if (ucx.libraries.empty()) return;
  wanted.libraries.insert(wanted.libraries.end(), ucx.libraries.begin(), ucx.libraries.end());
  wanted.variables.push_back({"UCTRACE_UCX", ucx.libuct});
}

// Programs that the processes run themselves.
void add_programs(launcher::Wanted& wanted) {
  if (const fs::path program = find_topology_program(); !program.empty()) {
    wanted.variables.push_back({"UCTRACE_TOPOLOGY_PROGRAM", program.string()});
  }
}

// What to record: which layers and stacks, when, and how much to keep.
void add_choices(const RecordCommand& command, launcher::Wanted& wanted) {
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    if (!values.empty()) {
      wanted.variables.push_back({name, fmt::format("{}", fmt::join(values, ","))});
    }
  };
  add("UCTRACE_LAYERS", command.layers);
  add("UCTRACE_START_ON", command.start_on);
  add("UCTRACE_STOP_ON", command.stop_on);
  if (command.stacks != log::StackMode::off) {
    wanted.variables.push_back(
        {"UCTRACE_STACKS", command.stacks == log::StackMode::all ? "all" : "mpi"});
  }
  if (command.max_log_bytes != 0) {
    wanted.variables.push_back({"UCTRACE_MAX_LOG", std::to_string(command.max_log_bytes)});
  }
  if (command.never_drop) wanted.variables.push_back({"UCTRACE_NEVER_DROP", "1"});
  if (command.helpers != 0) {
    wanted.variables.push_back({"UCTRACE_HELPERS", std::to_string(command.helpers)});
  }
  if (command.polls) wanted.variables.push_back({"UCTRACE_POLLS", "1"});
  if (command.counters) {
    wanted.variables.push_back({"UCTRACE_COUNTERS", command.trace ? "too" : "only"});
  }
  if (command.no_helper) wanted.variables.push_back({"UCTRACE_NO_HELPER", "1"});
}

// A driver loads only one library by such a variable. If the job or its line already sets one, that
// stays, and the processes report it.
bool is_taken(const char* variable, const std::string& library, const RecordCommand& command) {
  const char* before = std::getenv(variable);
  return (before != nullptr && before != library) ||
         std::any_of(command.program.begin(), command.program.end(), [&](const std::string& word) {
           return word.find(variable) != std::string::npos;
         });
}

void add_gpu_history(const RecordCommand& command, launcher::Wanted& wanted) {
  if (!command.gpu_history) {
    unsetenv("UCTRACE_GPU_HISTORY");  // for processes it means that a history is wanted
    return;
  }
  const std::string library = find_gpu_history().string();
  wanted.variables.push_back({"UCTRACE_GPU_HISTORY", library});
  for (const gpu::VendorFacts& vendor : gpu::kVendorFacts) {
    if (vendor.history_variable == nullptr || is_taken(vendor.history_variable, library, command)) {
      continue;
    }
    wanted.variables.push_back({vendor.history_variable, library});
  }
}

// One rank of a job: becomes the program, silently. The job's key is the launcher's: so all ranks
// agree on it without communication, and no rank moves another one's files. If the folder is
// refused, one rank of each host reports it.
int run_as_rank(const RecordCommand& command, const LaunchLine& line) {
  if (!command.prof.empty()) {
    throw Error({.what = "--prof behind a launcher",
                 .why = "the profiles are of all ranks, and this `record` sees its own only",
                 .to_do = "put `uctrace record` before the launcher, or run `uctrace counters DIR "
                          "--prof PREFIX` when the job has ended"});
  }
  const RebuiltUcx ucx = wanted_ucx(command);
  const fs::path folder = join_folder(command.folder);
  launcher::Wanted wanted{.libraries = {preloadable(find_preload_library(), {folder})},
                          .variables = {{"UCTRACE_DIR", folder.string()}},
                          .copies = {}};
  add(ucx, wanted);
  add_programs(wanted);
  add_choices(command, wanted);
  add_gpu_history(command, wanted);
  char name[256];
  log::write_launch_name(name, sizeof name);
  if (name[0] != '\0') wanted.variables.push_back({"UCTRACE_LAUNCH", name});
  const launcher::Edit edit = set_up(line, wanted, command.edit_line);
  if (command.verbose) say("recording this rank into " + folder.string());
  return report_not_run(command.program.front(), become_program(edit.words));
}

// Profiles like those of Open MPI's monitoring, from the job's counters.
class ProfileWriter {
 public:
  ProfileWriter(const RecordCommand& command, const DataFolder& folder)
      : command_(command), folder_(folder), next_(Clock::now() + interval()) {}

  // While the job runs. Failures are reported at the end.
  void look() {
    if (!command_.prof_every_s || Clock::now() < next_) return;
    next_ = Clock::now() + interval();
    try {
      const auto job =
          read_counter_folder(folder_.lease ? folder_.lease->folder(folder_.path) : folder_.path);
      CounterExport(job).write_profs(command_.prof);
    } catch (const std::exception&) {
    }
  }
  void write(const fs::path& folder) const {
    if (command_.prof.empty()) return;
    try {
      const auto job = read_counter_folder(folder);
      const std::size_t count = CounterExport(job).write_profs(command_.prof);
      say(fmt::format("{} profile{} written: {}.RANK.prof", count, count == 1 ? "" : "s",
                      command_.prof.string()));
    } catch (const Error& error) {
      say_warning(error.message());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::seconds interval() const {
    return std::chrono::seconds(command_.prof_every_s.value_or(0));
  }

  const RecordCommand& command_;
  const DataFolder& folder_;
  Clock::time_point next_;
};

// All ranks of the job load the library, so collective steps are possible
// (mpi-attribution/clock_sync.cpp). Not set if the launcher's line could not be edited.
constexpr const char* kEveryRank = "UCTRACE_EVERY_RANK";

launcher::Wanted wanted_by(const RecordCommand& command, const RebuiltUcx& ucx,
                           const DataFolder& folder, const fs::path& fallback,
                           const RunRecord& record, bool every_rank) {
  launcher::Wanted wanted{
      .libraries = {preloadable(find_preload_library(), {folder.path, fallback})},
      .variables = {{"UCTRACE_DIR", folder.path.string()}, {"UCTRACE_JOB", record.job}},
      .copies = folder.path / fmt::format("{}{:.8}-", kLauncherFilePrefix, record.job)};
  add(ucx, wanted);
  add_programs(wanted);
  add_choices(command, wanted);
  add_gpu_history(command, wanted);
  for (const char* name : {"UCTRACE_DRAIN", "UCTRACE_UNWINDER", "UCTRACE_CLOCK"}) {
    if (const char* value = std::getenv(name)) wanted.variables.push_back({name, value});
  }
  if (!fallback.empty()) wanted.variables.push_back({"UCTRACE_FALLBACK_DIR", fallback.string()});
  if (every_rank) wanted.variables.push_back({kEveryRank, "1"});
  return wanted;
}

int run_as_job(const RecordCommand& command, const LaunchLine& line) {
  // Before older data is moved: these may be missing.
  const RebuiltUcx ucx = wanted_ucx(command);
  if (command.gpu_history) find_gpu_history();
  RunRecord record{.command = command.program,
                   .job = random_key(),
                   .host = host_name(),
                   .started_ns = realtime_ns()};
  const DataFolder folder = prepare_folder(command.folder, record.job);
  const HeldSignals held;
  const ScratchFolder fallback;
  GroupWitness witness(fallback.path());  // which removes it if this process is killed
  const bool every_rank = line.kind != launcher::Kind::none && command.edit_line;
  unsetenv(kEveryRank);  // set by an enclosing recording
  const launcher::Edit edit =
      set_up(line, wanted_by(command, ucx, folder, fallback.path(), record, every_rank),
             command.edit_line);
  if (!edit.unclear.empty()) unsetenv(kEveryRank);
  record.started_as = edit.words;
  for (const launcher::Variable& change : edit.environment) {
    record.environment[change.name] = change.value;
  }
  say_before(folder);
  if (!has_proc()) {
    say_warning(
        "there is no /proc here: whether processes of this job still run will not be known to who "
        "reads the folder; mount it (mount -t proc proc /proc), or use a container that has it");
  }
  say_edit(line, edit, command.verbose);
  // In a shared folder run.json belongs to the other job.
  const bool describe = folder.state == DataFolder::State::fresh;
  bool described = describe && write_run_json(folder.path, record);

  ProfileWriter profiles(command, folder);
  const ProgramEnd end = run_program(edit.words, held, witness, [&] {
    if (folder.lease) folder.lease->refresh();
    profiles.look();
  });

  if (end.exec_errno != 0) return report_not_run(command.program.front(), end.exec_errno);
  record.ended_ns = realtime_ns();
  record.exit_status = end.exit_status;
  // Somebody may have renamed the folder while the job wrote into it.
  const fs::path written = folder.lease ? folder.lease->folder(folder.path) : folder.path;
  if (describe) described = write_run_json(written, record) && described;
  held.let_end();  // logs may be many, and the file system slow
  if (describe && !described)
    say_warning("run.json could not be written; the logs do not depend on it");
  if (written != folder.path) say("the data folder is called " + written.string() + " now");
  const JobLog kept = read_job_log(written, record.job), lost = read_job_log(fallback.path(), "");
  give_back_room(kept);
  if (kept.processes.empty() && kept.unreadable.empty() && lost.processes.empty()) {
    say_end(end);
    say_nothing(folder, end, kept);
  } else {
    say_after(written == folder.path ? command.folder : written, command, kept, lost, end);
  }
  if (command.counters) warn_of_lost_counters(written, record.job);
  keep_counters(fallback.path(), written);
  profiles.write(written);
  return end.exit_status;
}

// The program belongs to the enclosing recording: one job in one folder, each record once.
int run_within_recording(const RecordCommand& command, const LaunchLine& line) {
  if (command.verbose || !is_behind_launcher(line)) {
    say(fmt::format("recorded already, into {}: this `record` adds nothing",
                    std::getenv("UCTRACE_DIR")));
  }
  return report_not_run(command.program.front(), become_program(command.program));
}

}  // namespace

int run(const RecordCommand& command) {
  const std::string& program = command.program.front();
  if (const int error = find_program(program); error != 0) return report_not_run(program, error);
  const LaunchLine line = read_launch_line(command.program);
  if (is_recorded_already()) return run_within_recording(command, line);
  if (!is_behind_launcher(line)) return run_as_job(command, line);
  try {
    return run_as_rank(command, line);
  } catch (const Error& error) {
    // Gives the rank that reports the time for it.
    if (speaks_for_its_host()) {
      say(error.message());
    } else {
      std::this_thread::sleep_for(kTimeToSpeak);
    }
    return kToolFailed;
  }
}

}  // namespace uctrace::cli
