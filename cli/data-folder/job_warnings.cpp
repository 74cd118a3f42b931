#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/data-folder/definitions.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/data-folder/known_ucx.hpp"
#include "event-log/format/drop_causes.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "event-log/recorder/recording.hpp"
#include "log-merger/model/drop_words.hpp"

namespace uctrace::cli {
namespace {

using Processes = std::vector<ProcessReport>;

constexpr std::size_t kNamedProcesses = 8;
constexpr std::array<const char*, log::kLayers> kLayerNames = {"UCT", "UCP", "MPI", "GPU",
                                                               "library"};

bool is(const ProcessReport& process, log::Layer layer, log::LayerState state) {
  return process.layers[static_cast<std::size_t>(layer)] == state;
}

std::string name_of(const ProcessReport& process) {
  return process.rank >= 0 ? fmt::format("rank {}", process.rank)
                           : fmt::format("pid {} on {}", process.pid, process.host);
}

// "3 of 4 processes (rank 0, rank 2, rank 3)".
std::string count_text(const Processes& some, std::size_t all) {
  std::vector<std::string> names;
  for (const ProcessReport& process : some) {
    if (names.size() == kNamedProcesses) {
      names.push_back("...");
      break;
    }
    names.push_back(name_of(process));
  }
  return fmt::format("{} of {} process{} ({})", some.size(), all, all == 1 ? "" : "es",
                     fmt::join(names, ", "));
}

template <typename Predicate>
Processes select(const Processes& processes, Predicate predicate) {
  Processes selected;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(selected), predicate);
  return selected;
}

// --- the checks; each adds a line if something is wrong ---------------------------------

// Except layers that are off because a UCX was left alone: check_ucx_loaded() reports these.
void check_layers(const Processes& processes, const Definitions& defined,
                  std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < log::kLayers; ++i) {
    const auto layer = static_cast<log::Layer>(i);
    const Processes off = select(processes, [&](const ProcessReport& process) {
      return is(process, layer, log::LayerState::off) && !defined.is_off_for_ucx(process, layer);
    });
    if (off.empty()) continue;
    lines.push_back(fmt::format(
        "the {} layer turned itself off in {}: {}; the job ran on, that layer is missing",
        kLayerNames[i], count_text(off, processes.size()), defined.off_reason(off.front(), layer)));
  }
}

struct Advice {
  log::FaultCode code;
  std::string to_do;
};
// The UCX that --ucx requested, and the one that the processes loaded.
const std::vector<Advice>& advice_of_ucx() {
  static const std::vector<Advice> kAdvice = {
      {log::FaultCode::other_ucx_loaded,
       "the job was recorded with that one; see docs/rebuilt-ucx.md for programs that bring a UCX "
       "of "
       "their own"},
      {log::FaultCode::unknown_patch,
       "it was recorded like a stock one; build it again with this `uctrace build-ucx`"},
      {log::FaultCode::several_ucx,
       "operations may be missing; load one UCX only in the processes of a job"},
      {log::FaultCode::ucp_bypassed,
       "what went that way is missing; a rebuilt UCX is seen there, too"},
      {log::FaultCode::uct_bypassed,
       "what went that way is missing; a rebuilt UCX is seen there, too"},
      {log::FaultCode::unknown_ucx_version,
       fmt::format(
           "what went through it is not recorded as a whole; use {} in its place, by "
           "LD_LIBRARY_PATH or by `uctrace build-ucx` and `record --ucx`, or a newer uctrace",
           known_ucx())}};
  return kAdvice;
}

// The processes with a fault, and the text of the first one.
struct Told {
  Processes affected;
  std::string why;
};
Told told_of(const Processes& processes, const Definitions& defined, log::FaultCode code) {
  Told told;
  told.affected = select(processes, [&](const ProcessReport& process) {
    const std::string text = defined.fault(process, code);
    if (told.why.empty()) told.why = text;
    return !text.empty();
  });
  return told;
}

void check_ucx_loaded(const Processes& processes, const Definitions& defined,
                      std::vector<std::string>& lines) {
  for (const auto& [code, to_do] : advice_of_ucx()) {
    const Told told = told_of(processes, defined, code);
    if (told.affected.empty()) continue;
    lines.push_back(
        fmt::format("in {}: {}; {}", count_text(told.affected, processes.size()), told.why, to_do));
  }
}

// The history that --gpu-history requested. Nothing else is missing.
void check_gpu_history(const Processes& processes, const Definitions& defined,
                       std::vector<std::string>& lines) {
  const Told told = told_of(processes, defined, log::FaultCode::gpu_history_refused);
  if (told.affected.empty()) return;
  lines.push_back(fmt::format(
      "the history of GPU memory is missing, or not whole, in {}: {}; where messages lie is known "
      "all the same",
      count_text(told.affected, processes.size()), told.why));
}

// The profiles that the program requested with pml_monitoring_enable_output.
void check_profiles(const Processes& processes, const Definitions& defined,
                    std::vector<std::string>& lines) {
  const Told told = told_of(processes, defined, log::FaultCode::profile_not_written);
  if (told.affected.empty()) return;
  lines.push_back(
      fmt::format("MPI_Finalize could not write the profile that the program asked for in {}: {}; "
                  "`uctrace counters --prof` writes it",
                  count_text(told.affected, processes.size()), told.why));
}

void check_ucx_used(const Processes& processes, const Definitions& defined,
                    std::vector<std::string>& lines) {
  const auto uses_ucx = [](const ProcessReport& process) {
    // It ended early, before its first message, with UCX loaded: no reason for advice.
    const bool was_about_to = !process.closed && is(process, log::Layer::ucp, log::LayerState::on);
    const auto off = [&](log::Layer layer) {
      return log::is_off(process.layers[static_cast<std::size_t>(layer)]);
    };
    return process.ucp_operations != 0 || process.uct_operations != 0 || was_about_to ||
           off(log::Layer::ucp) || off(log::Layer::uct);
  };
  if (std::any_of(processes.begin(), processes.end(), uses_ucx)) return;
  const auto job = std::find_if(processes.begin(), processes.end(), [](const auto& process) {
    return process.mpi_calls != 0 && process.world_size > 1;
  });
  if (job == processes.end()) return;
  const std::string& library = defined.mpi_library(*job);
  if (library.find("Open MPI") != std::string::npos) {
    lines.push_back(
        "this Open MPI job did not use UCX: Open MPI takes it by itself only on networks it "
        "knows; to use it, run `mpirun --mca pml ucx --mca pml_ucx_tls any --mca "
        "pml_ucx_devices any ...`");
    return;
  }
  lines.push_back(fmt::format(
      "this MPI job did not use UCX: {} sends its messages another way; run it with an MPI that is "
      "built on UCX",
      library.empty() ? "the MPI library" : library));
}

void check_ranks(const Processes& processes, std::vector<std::string>& lines) {
  std::set<std::int32_t> ranks;
  std::int32_t world_size = 0;
  for (const ProcessReport& process : processes) {
    if (process.rank < 0) continue;
    ranks.insert(process.rank);
    world_size = std::max(world_size, process.world_size);
  }
  if (ranks.size() >= static_cast<std::size_t>(world_size)) return;
  lines.push_back(fmt::format(
      "only {} of {} ranks were recorded: the others ran where uctrace was not loaded or this "
      "folder is not seen; use a shared folder and put uctrace behind the launcher: `mpirun ... "
      "uctrace record -o DIR -- PROGRAM`",
      ranks.size(), world_size));
}

// Each cause that occurred, with its number of lost records if there are several.
void check_drops(const Processes& processes, std::vector<std::string>& lines) {
  std::uint64_t dropped = 0;
  std::map<std::string, std::uint64_t> reasons;
  std::set<std::string> remedies;
  const Processes affected = select(processes, [&](const ProcessReport& process) {
    dropped += process.dropped;
    for (const log::DropCause cause : causes_in(process.dropped_by_cause)) {
      const DropWords words = drop_words(cause, process.write_errno, process.file_system);
      reasons[words.why] += process.dropped_by_cause[static_cast<std::size_t>(cause)];
      remedies.insert(words.to_do);
    }
    return process.dropped != 0;
  });
  if (affected.empty()) return;
  std::vector<std::string> told;
  for (const auto& [why, count] : reasons) {
    told.push_back(reasons.size() == 1 ? why : fmt::format("{} ({})", why, count));
  }
  lines.push_back(fmt::format("{} records were dropped in {}: {}; {}", dropped,
                              count_text(affected, processes.size()), fmt::join(told, ", "),
                              fmt::join(remedies, ", ")));
}

void check_untracked(const Processes& processes, std::vector<std::string>& lines) {
  std::uint64_t untracked = 0;
  const Processes affected = select(processes, [&](const ProcessReport& process) {
    untracked += process.untracked;
    return process.untracked != 0;
  });
  if (affected.empty()) return;
  lines.push_back(fmt::format(
      "{} operations have no recorded end in {}: more of them began at once than memory was ready "
      "for; the counts are exact, the details incomplete; with --never-drop the program waits",
      untracked, count_text(affected, processes.size())));
}

// The start conditions that the process could not watch; empty if it could watch all.
std::string start_obstacle(const ProcessReport& process) {
  std::string obstacle;
  try {
    const log::LogFile file = log::LogFile::open(process.log);
    std::set<std::int32_t> signals;  // that were to start it
    file.for_each_record(log::Stream::definitions, [&](std::uint16_t, const log::TextView& text) {
      if (text.kind() != log::TextKind::recording_when || text.r.id != 1) return;
      log::each_recording_condition(text.text, [&](std::string_view condition) {
        const log::RecordingCondition parsed = log::parse_recording_condition(condition);
        if (parsed.cause == log::SwitchCause::signal) signals.insert(parsed.value);
      });
    });
    file.for_each_record(log::Stream::definitions, [&](std::uint16_t, const log::FaultView& fault) {
      const bool signal_taken =
          fault.code() == log::FaultCode::signal_taken && signals.contains(fault.r.value);
      const bool unknown = fault.code() == log::FaultCode::unknown_condition &&
                           fault.detail.starts_with("--start-on");
      if ((signal_taken || unknown) && obstacle.empty()) obstacle = reason_text(fault);
    });
  } catch (const Error&) {
    return "";
  }
  return obstacle;
}

void check_recording(const Processes& processes, std::vector<std::string>& lines) {
  const bool never = std::all_of(processes.begin(), processes.end(),
                                 [](const auto& process) { return process.events == 0; });
  const bool off = std::any_of(processes.begin(), processes.end(),
                               [](const auto& process) { return process.outside_window != 0; });
  if (!never || !off) return;
  std::string obstacle;
  for (const ProcessReport& process : processes) {
    if (obstacle.empty()) obstacle = start_obstacle(process);
  }
  lines.push_back(fmt::format(
      "recording was never started: {}; counters are of the whole run",
      obstacle.empty() ? "nothing met --start-on in any process; call MPI_Pcontrol with that level "
                         "or send that signal while the job runs"
                       : obstacle + "; choose another signal or level for --start-on"));
}

std::string why_open(const Processes& open) {
  std::set<std::string> reasons;
  for (const ProcessReport& process : open) {
    if (process.write_errno == 0 || process.dropped != 0) continue;  // reported with the drops
    const log::DropCause cause = log::cause_of(static_cast<int>(process.write_errno));
    reasons.insert(drop_words(cause, process.write_errno, process.file_system).why);
  }
  if (!reasons.empty()) return fmt::format("{}", fmt::join(reasons, ", "));
  if (std::any_of(open.begin(), open.end(),
                  [](const auto& process) { return process.life == log::Life::running; })) {
    return "still running, or killed";
  }
  const auto slow =
      std::find_if(open.begin(), open.end(), [](const auto& process) { return process.drained; });
  if (slow == open.end()) {
    return "killed, crashed, ended by _exit, or kept from writing by a sandbox";
  }
  return fmt::format(
      "killed, crashed, ended by _exit, kept from writing by a sandbox, or {} took longer than the "
      "30 s that the end of a process waits",
      slow->file_system);
}

void check_ends(const Processes& processes, std::vector<std::string>& lines) {
  const Processes open = select(processes, [](const auto& process) { return !process.closed; });
  if (open.empty()) return;
  lines.push_back(fmt::format("{} did not close their log: {}; what was recorded is kept",
                              count_text(open, processes.size()), why_open(open)));
}

}  // namespace

std::vector<std::string> warnings(const JobLog& kept, const JobLog& lost) {
  // A process may have written its last counters elsewhere, because its log took no more.
  Processes all = select(kept.processes, [&](const ProcessReport& process) {
    return std::none_of(lost.processes.begin(), lost.processes.end(), [&](const auto& other) {
      return other.log.filename() == process.log.filename();
    });
  });
  all.insert(all.end(), lost.processes.begin(), lost.processes.end());
  std::vector<std::string> lines;
  if (all.empty() && kept.folder_gone) {
    lines.push_back(
        "the folder of the logs is gone: it was moved or removed while the job ran; if it was "
        "moved, "
        "name its place: `uctrace report DIR`");
    return lines;
  }
  if (all.empty() && kept.unreadable.empty()) {
    lines.push_back(
        "no process used MPI or UCX, so nothing was recorded: a program that is statically linked, "
        "set-uid, or started by another machine or service does not load uctrace, and one that "
        "changed its user or root, or that a sandbox lets make no files, cannot write to this "
        "folder; if it should have, put uctrace behind the launcher: `mpirun ... uctrace record -- "
        "PROGRAM`");
    return lines;
  }
  if (!kept.unreadable.empty()) {
    lines.push_back(fmt::format(
        "{} log{} cannot be read, the first is {}: cut off at its start, or the disk is full",
        kept.unreadable.size(), kept.unreadable.size() == 1 ? "" : "s",
        kept.unreadable.front().filename().string()));
  }
  const Definitions defined(all);
  check_layers(all, defined, lines);
  check_ucx_loaded(all, defined, lines);
  check_gpu_history(all, defined, lines);
  check_profiles(all, defined, lines);
  check_ucx_used(all, defined, lines);
  check_ranks(all, lines);
  check_drops(all, lines);
  check_untracked(all, lines);
  check_recording(all, lines);
  check_ends(all, lines);
  return lines;
}

}  // namespace uctrace::cli
