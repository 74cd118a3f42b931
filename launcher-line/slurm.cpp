// srun passes the whole environment on, unless --export, or else SLURM_EXPORT_ENV, says otherwise:
// NONE or NIL for nothing at all, or a list of NAME and NAME=VALUE. A list with ALL adds to the
// environment only variables that it lacks. Each part of a heterogeneous line has its own --export.
#include <strings.h>

#include <algorithm>

#include "launcher-line/editor.hpp"

namespace uctrace::launcher {
namespace {

constexpr OptionTable kSlurmOptions = {
    .none =
        "E H O Q V X Z contiguous disable-status exact external-launcher help h hold label l "
        "multi-prog no-allocate overcommit overlap oversubscribe preserve-env pty "
        "quiet quit-on-interrupt reboot resv-ports s share spread-job stepmgr u unbuffered usage "
        "use-min-nodes v verbose version",
    .one =
        "A B C D G J L M N P S T W account acctg-freq b bb bbf bcast-exclude begin c chdir "
        "cluster-constraint clusters comment constraint container container-id core-spec "
        "cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task d deadline delay-boot "
        "dependency distribution e epilog error exclude export extra extra-node-info gid "
        "gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags "
        "het-group hint i input job-name jobid licenses m mail-type mail-user mcs-label mem "
        "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout n network nodefile nodelist "
        "nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket "
        "ntasks-per-tres o output p pack-group partition power prefer priority prolog q qos r "
        "relative reservation segment signal slurmd-debug sockets-per-node switches t "
        "task-epilog task-prolog thread-spec threads threads-per-core time time-min tmp "
        "treewidth tres-bind tres-per-task uid w wait wckey x",
    .two = "",
    .optional =
        "I K bcast compress exclusive immediate k kill-on-bad-exit nice no-kill profile "
        "propagate send-libs",
    .abbreviated = true,
};

bool is_word(const std::string& text, const char* word) {
  return strcasecmp(text.c_str(), word) == 0;
}

// An --export list with ours in it; the same text if it passes ours on already. `otherwise` becomes
// the LD_PRELOAD that the list adds to an environment without one.
std::string edited_export(const std::string& list, const Editor& editor, std::string& otherwise) {
  std::vector<std::string> entries = split(list, ','), kept;
  const bool has_all = std::any_of(entries.begin(), entries.end(),
                                   [](const std::string& entry) { return is_word(entry, "ALL"); });
  std::vector<std::string> named;
  for (std::string& entry : entries) {
    if (entry.empty() || is_word(entry, "NONE") || is_word(entry, "NIL")) continue;
    named.push_back(name_part(entry));
    const std::optional<std::string> value = value_part(entry);
    if (named.back() == kPreload && value) {
      if (has_all) otherwise = *value;
      entry = std::string(kPreload) + "=" + editor.preload(*value);
    }
    kept.push_back(std::move(entry));
  }
  if (has_all) return join(kept, ',');
  for (const Variable& variable : editor.variables()) {
    if (std::find(named.begin(), named.end(), variable.name) != named.end()) continue;
    // A value that contains the list's separator is named only: the environment has it, too.
    const bool fits = variable.value.find(',') == std::string::npos;
    kept.push_back(fits ? variable.name + "=" + variable.value : variable.name);
  }
  return join(kept, ',');
}

bool slurm_may_restrict(const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.starts_with("--exp"); });
}

}  // namespace

const OptionTable& slurm_options() { return kSlurmOptions; }

void edit_slurm(Editor& editor) {
  Line& line = editor.line;
  std::string otherwise;
  const std::optional<std::string> of_environment = editor.environment.get("SLURM_EXPORT_ENV");
  for (std::size_t begin = editor.launcher + 1; begin <= line.size();) {
    const OptionScan scan = scan_options(line.words(), begin, line.size(), kSlurmOptions);
    if (scan.unknown) {
      if (of_environment || slurm_may_restrict(line.words())) {
        editor.result.unclear =
            "uctrace does not know the option '" + line[*scan.unknown] + "' of srun";
      }
      return;
    }
    const FoundOption* last = nullptr;
    for (const FoundOption& option : scan.options) {
      if (option.name == "export") last = &option;
    }
    if (last != nullptr) {
      const std::string list = value_of(line, *last),
                        edited = edited_export(list, editor, otherwise);
      if (edited != list) replace_value(line, *last, edited);
    } else if (of_environment) {
      const std::string edited = edited_export(*of_environment, editor, otherwise);
      if (edited != *of_environment) line.insert(begin, {"--export=" + edited});
    }
    const auto colon = std::find(line.words().begin() + static_cast<std::ptrdiff_t>(scan.program),
                                 line.words().end(), ":");
    begin = static_cast<std::size_t>(colon - line.words().begin()) + 1;
  }
  editor.preload_otherwise = otherwise;
}

}  // namespace uctrace::launcher
