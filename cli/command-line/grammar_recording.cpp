// The verbs that come before a run is read: those that make one, and those that prepare for it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command-line/grammar.hpp"
#include "cli/command-line/option_kinds.hpp"
#include "cli/command-line/shared_options.hpp"
#include "cli/command-line/size_option.hpp"
#include "event-log/format/helpers.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/recorder/recording.hpp"

namespace uctrace::cli {
namespace {

const Choices<log::StackMode> kStackModes = {
    {"off", log::StackMode::off}, {"mpi", log::StackMode::mpi}, {"all", log::StackMode::all}};

const Words kLayers = {"uct", "ucp", "mpi", "library"};

// With less, a log could not hold the newest events of a few threads.
constexpr std::uint64_t kLeastMaxLog = std::uint64_t{1} << 20;

void add_condition(CLI::App& verb, const std::string& option, Words& conditions,
                   const std::string& help) {
  verb.add_option(option, conditions, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [option](std::string& text) -> std::string {
            if (log::parse_recording_condition(text).cause != log::SwitchCause::start) return "";
            Words signals;
            for (const log::RecordingSignal& signal : log::kRecordingSignals) {
              signals.push_back(fmt::format("signal:{}", signal.name));
            }
            throw Error({.what = fmt::format("{} {}", option, text),
                         .why = fmt::format("'{}' is nothing that recording can wait for", text),
                         .to_do = fmt::format("give pcontrol, pcontrol:LEVEL, {}",
                                              fmt::join(signals, ", "))});
          },
          ""))
      ->each([option, given = std::size_t{0}](const std::string&) mutable {
        if (++given <= log::kMostConditions) return;
        throw Error({.what = option,
                     .why = fmt::format("it is given more than {} times", log::kMostConditions),
                     .to_do = "name fewer: pcontrol alone is any level"});
      })
      ->type_name("WHEN");
}

}  // namespace

void Grammar::add_check() {
  CLI::App& verb = add_verb("check", "Say before a job whether it can be recorded here", check_);
  add_path(verb, "DIR", check_.folder, "",
           fmt::format("Folder that will hold the data [{}]", kDefaultFolderText));
  add_format(verb, check_.format);
  add_wide(verb, check_.wide);
  add_limit(verb, check_.limit, "Rows to print [all]");
  auto* const expect =
      verb.add_option("--expect", check_.expect,
                      "Check instead whether payload of a recorded run went by these transports "
                      "alone, within hosts (intra) and between hosts (inter)")
          ->check(not_empty("--expect"))
          ->type_name("inter=A|B,intra=C");
  add_path(verb, "--run", check_.data.folder, "DIR",
           fmt::format("The folder of that run [{}]", kDefaultFolderText))
      ->needs(expect);
  add_job(verb, check_.data);
  verb.get_option("--job")->needs(expect);
}

void Grammar::add_record() {
  CLI::App& verb = add_verb("record", "Run a job and record it", record_);
  verb.prefix_command();
  add_path(verb, "-o,--output", record_.folder, "DIR",
           fmt::format("Folder for the data; the folder of an older run becomes DIR.old.N [{}]",
                       kDefaultFolderText));
  verb.add_flag("-v,--verbose", record_.verbose,
                "Say what is set up and what each process recorded");
  add_path(verb, "--ucx", record_.ucx, "DIR",
           "Record with the UCX that build-ucx made in DIR [the job's own]");
  verb.add_option("--layers", record_.layers, "Record only these layers, which costs less [all]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty("--layers"))
      ->check(one_of("--layers", kLayers))
      ->type_name(joined(kLayers));
  add_choice(verb, "--stacks", record_.stacks, kStackModes,
             "Call stacks of MPI calls, or of all operations [off]");
  add_condition(verb, "--start-on", record_.start_on,
                "Start recording at pcontrol[:LEVEL] or signal:NAME [from the start]");
  add_condition(verb, "--stop-on", record_.stop_on,
                "Stop recording at WHEN, until the next start [never]");
  add_size(
      verb, "--max-log", record_.max_log_bytes, kLeastMaxLog,
      "Keep only the newest events of each process, in SIZE; while it runs, up to 12M and 256K "
      "a thread more [all]");
  auto* const never_drop =
      verb.add_flag("--never-drop", record_.never_drop,
                    "Let the program wait instead of dropping records; info says for how long");
  auto* const helpers =
      add_number(verb, "--helpers", record_.helpers,
                 "Up to N uctrace threads, 1 to 8, pack what is recorded, if cores are free [1]")
          ->check(within("--helpers", 1, log::kMostHelpers));
  verb.add_flag("--no-helper", record_.no_helper,
                "No uctrace thread, and no system calls of uctrace once MPI or UCX has started")
      ->excludes(never_drop)
      ->excludes(helpers);
  verb.add_flag("--polls", record_.polls,
                "Also record each MPI_Parrived that finds nothing, not only how many there were");
  verb.add_flag("--gpu-history", record_.gpu_history,
                "Also record every CUDA allocation, and when it was made and freed");
  auto* const counters =
      verb.add_flag("--counters", record_.counters,
                    "Count who sends how much to whom instead of recording events");
  verb.add_flag("--trace", record_.trace, "With --counters: record events, too")->needs(counters);
  auto* const prof =
      add_path(verb, "--prof", record_.prof, "PREFIX",
               "With --counters: write PREFIX.RANK.prof at the end, as Open MPI's monitoring does");
  prof->needs(counters);
  add_number(verb, "--prof-every", record_.prof_every_s,
             "With --prof: also write the profiles every N seconds; uctrace looks every 5")
      ->check(within("--prof-every", 1, kMostSeconds))
      ->needs(prof);
  counters->excludes("--no-helper");
  verb.add_flag("!--no-edit", record_.edit_line,
                "Only set the environment, and run COMMAND as it is");
}

void Grammar::add_merge() {
  CLI::App& verb = add_verb("merge", "Merge the logs of a run into DIR/run.h5", merge_);
  add_data(verb, merge_.data);
}

void Grammar::add_build_ucx() {
  CLI::App& verb =
      add_verb("build-ucx", "Build a UCX with hooks, for exact attribution", build_ucx_);
  add_path(verb, "SOURCE", build_ucx_.source, "",
           "Folder or tarball with UCX's sources [the package of the installed UCX]");
  add_path(verb, "--prefix", build_ucx_.prefix, "DIR",
           "Where to install it [~/.local/share/uctrace/ucx-VERSION]");
  add_path(verb, "--ucx-info", build_ucx_.ucx_info, "FILE",
           "The ucx_info of the site's UCX, to take its configuration [the one in PATH]");
  verb.add_option("--configure", build_ucx_.configure,
                  "A further option for UCX's configure; can be repeated")
      ->allow_extra_args(false)
      ->check(not_empty("--configure"))
      ->type_name("OPTION");
  add_number(verb, "--jobs", build_ucx_.jobs, "Compilers at a time [one a core]");
  verb.add_flag("--replace", build_ucx_.replace, "Replace an older build in the prefix");
  verb.add_flag("--keep", build_ucx_.keep, "Keep the build folder, PREFIX.building");
  verb.add_flag("--unpatched", build_ucx_.unpatched,
                "Build it without the hooks, to compare the two");
}

}  // namespace uctrace::cli
