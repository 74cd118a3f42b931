#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include "cli/data_folder.hpp"
#include "cli/installation.hpp"
#include "cli/job_log.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "log-merger/error.hpp"
#include "log-merger/launcher_line.hpp"
#include "log-merger/table.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

void say(const std::string& line) { std::cerr << "uctrace: " << line << std::endl; }

void warn(const std::string& line) { say("warning: " + line); }

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

// The dynamic linker splits the list at spaces and colons and knows no quotes.
void preload(const fs::path& library) {
  if (library.string().find_first_of(" :") != std::string::npos) {
    throw Error({.what = "cannot load " + library.string(),
                 .why = "LD_PRELOAD takes no path with a space or colon",
                 .to_do = "put uctrace into a folder without them"});
  }
  std::string list = library.string();
  const char* of_user = std::getenv("LD_PRELOAD");
  if (of_user != nullptr && of_user[0] != '\0') list += std::string(":") + of_user;
  setenv("LD_PRELOAD", list.c_str(), 1);
}

// Launchers tell each process of a job its rank: then this command is one of many.
bool is_started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
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

// One rank of a job: becomes the program, silently. The job's key is its launcher's, so that all
// ranks agree on it without speaking to each other, and no rank moves what another one writes.
int run_as_rank(const RecordCommand& command) {
  const fs::path folder = fs::absolute(command.folder);
  std::error_code error;
  fs::create_directories(folder, error);
  setenv("UCTRACE_DIR", folder.c_str(), 1);
  if (command.verbose) say("recording this rank into " + folder.string());
  return report_not_run(command.program.front(), become_program(command.program));
}

void say_before(const DataFolder& folder) {
  if (folder.state == DataFolder::State::unwritable) {
    warn(
        fmt::format("cannot record into {}: {}; the job runs unrecorded, choose another folder "
                    "with -o DIR",
                    folder.path.string(), folder.why));
    return;
  }
  say("recording into " + folder.path.string());
  if (folder.state == DataFolder::State::shared) {
    warn(
        fmt::format("the folder keeps an older job beside this one: {}; --job chooses between "
                    "them, the newest is shown",
                    folder.why));
  }
}

void say_processes(const JobLog& log) {
  for (const ProcessReport& process : log.processes) {
    say(fmt::format(
        "rank {} on {}, pid {}: {} events, {} dropped, {} MPI calls, {} UCP operations, "
        "{} UCT operations",
        process.rank, process.host, process.pid, process.events, process.dropped, process.mpi_calls,
        process.ucp_operations, process.uct_operations));
  }
}

void say_after(const RecordCommand& command, const JobLog& kept, const JobLog& lost,
               const ProgramEnd& end) {
  if (end.signal != 0) {
    say(fmt::format("the command was ended by signal {} ({})", end.signal, strsignal(end.signal)));
  }
  if (command.verbose) say_processes(kept);
  std::uint64_t events = 0, bytes = 0;
  for (const ProcessReport& process : kept.processes) {
    events += process.events;
    bytes += process.log_bytes;
  }
  for (const std::string& line : warnings(kept, lost)) warn(line);
  if (kept.processes.empty()) return;
  const std::string folder =
      command.folder == kDefaultFolder ? "" : " " + shell_word(command.folder.string());
  say(fmt::format("{} event{} of {} process{}, {}; next: uctrace report{}", events,
                  events == 1 ? "" : "s", kept.processes.size(),
                  kept.processes.size() == 1 ? "" : "es", format_bytes(bytes), folder));
}

// Blocks of zeros become holes: a log of nothing but counters then takes two blocks of the disk.
bool copy_without_zeros(const fs::path& from, const fs::path& to) {
  constexpr std::size_t kBlock = 4096;
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  std::array<char, kBlock> block{};
  for (std::streamoff at = 0; in.read(block.data(), kBlock); at += kBlock) {
    if (std::any_of(block.begin(), block.end(), [](char c) { return c != 0; })) {
      out.seekp(at);
      out.write(block.data(), kBlock);
    }
  }
  out.close();
  std::error_code error;
  const auto size = fs::file_size(from, error);
  if (!out || error) {
    return false;
  }
  fs::resize_file(to, size, error);
  return !error;
}

// A process that could not write its log left its counters in the fallback folder: they go to the
// others now that the job has given its unused space back, so that `info` knows what was dropped.
// If there is still no room, the warning above has said it.
void keep_counters(const fs::path& fallback, const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(fallback, error), end; !error && it != end; it.increment(error)) {
    const fs::path kept = folder / it->path().filename();
    if (fs::exists(kept)) continue;  // a log that took no more is worth more than its last counters
    if (!copy_without_zeros(it->path(), kept)) {
      std::error_code ignored;
      fs::remove(kept, ignored);
    }
  }
}

int run_as_job(const RecordCommand& command) {
  const DataFolder folder = prepare_folder(command.folder);
  const ScratchFolder fallback;
  RunRecord record{.command = command.program,
                   .job = random_key(),
                   .host = host_name(),
                   .started_ns = realtime_ns()};
  setenv("UCTRACE_DIR", folder.path.c_str(), 1);
  setenv("UCTRACE_JOB", record.job.c_str(), 1);
  if (!fallback.path().empty()) setenv("UCTRACE_FALLBACK_DIR", fallback.path().c_str(), 1);
  say_before(folder);
  if (command.verbose) say(fmt::format("LD_PRELOAD={}", std::getenv("LD_PRELOAD")));
  // In a shared folder run.json is the other job's.
  const bool describe = folder.state == DataFolder::State::fresh;
  bool described = describe && write_run_json(folder.path, record);

  const ProgramEnd end = run_program(command.program);

  if (end.exec_errno != 0) return report_not_run(command.program.front(), end.exec_errno);
  record.ended_ns = realtime_ns();
  record.exit_status = end.exit_status;
  if (describe) described = write_run_json(folder.path, record) && described;
  if (describe && !described) warn("run.json could not be written; the logs do not depend on it");
  say_after(command, read_job_log(folder.path, record.job), read_job_log(fallback.path(), ""), end);
  keep_counters(fallback.path(), folder.path);
  return end.exit_status;
}

}  // namespace

int run(const RecordCommand& command) {
  const std::string& program = command.program.front();
  if (const int error = find_program(program); error != 0) return report_not_run(program, error);
  preload(find_preload_library());
  return is_started_by_launcher() ? run_as_rank(command) : run_as_job(command);
}

}  // namespace uctrace::cli
