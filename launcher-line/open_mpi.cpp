// Open MPI 3 to 6. To other hosts it passes only OMPI_* and the variables named by `-x
// NAME[=VALUE]`, separately for each part of a line between ":". A line with the parameter
// mca_base_env_list must not have -x, so the variables then go into that list. Both may come from
// the environment or a --tune file.
#include <algorithm>

#include "launcher-line/editor.hpp"

namespace uctrace::launcher {
namespace {

constexpr OptionTable kOpenMpiOptions = {
    .none =
        "V allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous crdebug d "
        "daemonize debug debug-daemons debug-daemons-file debug-devel disable-recovery "
        "display-allocation display-comm display-comm-finalize display-devel-allocation "
        "display-devel-map display-diffable-map display-map display-topo do-not-connect "
        "do-not-launch do-not-resolve dvm enable-instant-on-support enable-recovery "
        "fwd-mpirun-port get-stack-traces index-argv-by-rank leave-session-attached "
        "merge-stderr-to-stdout no-aggregate-help no-app-prefix nolocal nooversubscribe noprefix "
        "novm oversubscribe parsable parseable pernode preload-binary q quiet report-bindings "
        "report-child-jobs-separately report-state-on-timeout s set-cwd-to-session-dir "
        "show-progress soft staged stop-in-app stop-in-init stop-on-exec system-server-first "
        "system-server-only tag-output timestamp-output tv use-hwthread-cpus use-regexp v verbose "
        "version xml",
    .one =
        "H N am amca app app-prefix arch bind-to c cartofile cf cpu-list cpu-set cpus-per-proc "
        "cpus-per-rank debugger default-hostfile display dvm-uri exec-agent file forward-signals "
        "gpu-support hnp host hostfile initial-errhandler launch-agent machinefile map-by "
        "max-restarts max-vm-size mem-alloc-kind n namespace np npernode npersocket "
        "num-connect-retries ompi-server output output-directory output-filename path personality "
        "pid ppr prefix preload-files pset rank-by rankfile report-events report-pid report-uri rf "
        "runtime-options spawn-timeout sstore-load stdin stream-buffering timeout tmpdir tune "
        "wait-to-connect wd wdir with-ft x xml-file xterm",
    .two = "gmca gomca gpmixmca gprtemca mca omca pmixmca prtemca",
    .optional = "fwd-environment output-proctable",
    .long_with_one_dash = true,
};

constexpr const char* kListParameter = "mca_base_env_list";
constexpr const char* kListVariable = "OMPI_MCA_mca_base_env_list";
constexpr const char* kTuneVariable = "OMPI_MCA_mca_base_envar_file_prefix";

struct Part {
  std::size_t begin;
  OptionScan scan;
};

// One unknown option makes the whole line unclear.
std::vector<Part> parts_of(const Line& line, std::size_t begin, std::string& unclear) {
  std::vector<Part> parts;
  while (begin <= line.size() && unclear.empty()) {
    const auto colon = std::find(line.words().begin() + static_cast<std::ptrdiff_t>(begin),
                                 line.words().end(), ":");
    const auto end = static_cast<std::size_t>(colon - line.words().begin());
    Part part{begin, scan_options(line.words(), begin, end, kOpenMpiOptions)};
    if (part.scan.unknown) {
      unclear = "uctrace does not know the option '" + line[*part.scan.unknown] +
                "' of Open MPI's launcher";
    }
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

bool is_list_parameter(const Line& line, const FoundOption& option) {
  return (option.name == "mca" || option.name == "gmca" || option.name == "omca" ||
          option.name == "gomca") &&
         line[option.value_word] == kListParameter;
}

// The "-x A=1 -x B" of a line, with the user's settings of variables that Open MPI must pass on.
class PassedOn {
 public:
  explicit PassedOn(const Editor& editor) : editor_(editor) {}

  // Edits the user's own -x LD_PRELOAD=... and returns options for the variables that the part
  // lacks.
  Words missing_options(const Part& part, Line& line, bool by_name) const;

 private:
  const Editor& editor_;
};

Words PassedOn::missing_options(const Part& part, Line& line, bool by_name) const {
  std::vector<std::string> named;
  for (const FoundOption& option : part.scan.options) {
    if (option.name != "x") continue;
    const std::string setting = value_of(line, option);
    named.push_back(name_part(setting));
    const std::optional<std::string> value = value_part(setting);
    if (named.back() == kPreload && value) {
      replace_value(line, option, std::string(kPreload) + "=" + editor_.preload(*value));
    }
  }
  Words missing;
  for (const Variable& variable : editor_.variables()) {
    if (std::find(named.begin(), named.end(), variable.name) != named.end()) continue;
    missing.push_back("-x");
    missing.push_back(by_name ? variable.name : variable.name + "=" + variable.value);
  }
  return missing;
}

// "NAME[=VALUE];..." with ours in it.
std::string edited_list(const std::string& list, const Editor& editor) {
  std::vector<std::string> settings, named;
  for (std::string setting : split(list, ';')) {
    named.push_back(name_part(setting));
    const std::optional<std::string> value = value_part(setting);
    if (named.back() == kPreload && value) {
      setting = std::string(kPreload) + "=" + editor.preload(*value);
    }
    if (!setting.empty()) settings.push_back(std::move(setting));
  }
  for (const Variable& variable : editor.variables()) {
    if (std::find(named.begin(), named.end(), variable.name) != named.end()) continue;
    // A value that contains the list's separator is named only: the environment has it, too.
    const bool fits = variable.value.find(';') == std::string::npos;
    settings.push_back(fits ? variable.name + "=" + variable.value : variable.name);
  }
  return join(settings, ';');
}

// --- app files: one part a line, words between blanks, no quotes ------------------------------

Words words_of(const std::string& text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return words;
}

std::string edited_app_line(const std::string& text, const Editor& editor, std::string& unclear) {
  Line line(words_of(text));
  if (line.size() == 0 || line[0][0] == '#') return text;
  const bool has_blank = [&] {
    const std::vector<Variable> all = editor.variables();
    return std::any_of(all.begin(), all.end(), [](const Variable& variable) {
      return variable.value.find_first_of(" \t") != std::string::npos;
    });
  }();
  for (const Part& part : parts_of(line, 0, unclear)) {
    line.insert(part.begin, PassedOn(editor).missing_options(part, line, has_blank));
  }
  return line.is_edited() ? join(line.result(), ' ') : text;
}

bool sets_preload(const Line& line, const Part& part) {
  return std::any_of(part.scan.options.begin(), part.scan.options.end(),
                     [&](const FoundOption& option) {
                       return option.name == "x" && name_part(value_of(line, option)) == kPreload;
                     });
}

// With an app file Open MPI 4 ignores all other options, Open MPI 5 does not.
void edit_app_file(Editor& editor, const std::vector<Part>& parts, const FoundOption& option) {
  if (std::any_of(parts.begin(), parts.end(),
                  [&](const Part& part) { return sets_preload(editor.line, part); })) {
    editor.result.unclear =
        "whether -x LD_PRELOAD counts beside an app file depends on the version";
    return;
  }
  const std::string name = value_of(editor.line, option);
  const std::optional<std::string> text = editor.around.file(name);
  if (!text) {
    editor.result.unclear = "the app file '" + name + "' cannot be read";
    return;
  }
  std::vector<std::string> lines = split(*text, '\n');
  for (std::string& line : lines) line = edited_app_line(line, editor, editor.result.unclear);
  if (!editor.result.unclear.empty()) return;
  replace_value(editor.line, option, editor.copy_of(join(lines, '\n')));
}

// --- --tune files -----------------------------------------------------------------------------

// The values that tune files give LD_PRELOAD; an -x on the line overrides them. False: a file is
// not understood, or has the list.
bool read_tune_files(const Editor& editor, const std::vector<Part>& parts, std::string& preload) {
  std::vector<std::string> names;
  for (const Part& part : parts) {
    for (const FoundOption& option : part.scan.options) {
      if (option.name == "tune") names.push_back(value_of(editor.line, option));
    }
  }
  if (names.empty()) {
    if (const auto of_environment = editor.environment.get(kTuneVariable)) {
      names.push_back(*of_environment);
    }
  }
  for (const std::string& list : names) {
    for (const std::string& name : split(list, ',')) {
      const std::optional<std::string> text = editor.around.file(name);
      if (!text || text->find(kListParameter) != std::string::npos) return false;
      const std::string setting = std::string(kPreload) + "=";
      const std::size_t at = text->find(setting);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + setting.size();
      const std::size_t end = std::min(text->find_first_of(" \t\r\n", begin), text->size());
      preload = text->substr(begin, end - begin);
      std::erase_if(preload, [](char c) { return c == '\'' || c == '"'; });
    }
  }
  return true;
}

}  // namespace

const OptionTable& open_mpi_options() { return kOpenMpiOptions; }

void edit_open_mpi(Editor& editor) {
  Line& line = editor.line;
  std::string& unclear = editor.result.unclear;
  const std::vector<Part> parts = parts_of(line, editor.launcher + 1, unclear);
  if (!unclear.empty()) return;

  for (const Part& part : parts) {
    for (const FoundOption& option : part.scan.options) {
      if (option.name == "app") return edit_app_file(editor, parts, option);
    }
  }
  std::string tuned_preload;
  if (!read_tune_files(editor, parts, tuned_preload)) {
    unclear = "a --tune file cannot be read, or sets mca_base_env_list";
    return;
  }
  // All parts share one list: the first part's, or that of --gmca.
  for (const Part& part : parts) {
    for (const FoundOption& option : part.scan.options) {
      if (!is_list_parameter(line, option)) continue;
      if (option.name[0] != 'g' && part.begin != parts.front().begin) continue;
      const std::size_t value = option.value_word + 1;
      line.replace(value, edited_list(line[value], editor));
      return;
    }
  }
  if (const auto list = editor.environment.get(kListVariable)) {
    editor.environment.set(kListVariable, edited_list(*list, editor));
    return;
  }
  for (const Part& part : parts) {
    Words missing = PassedOn(editor).missing_options(part, line, false);
    if (!tuned_preload.empty() && missing.size() > 1 && name_part(missing[1]) == kPreload) {
      missing[1] = std::string(kPreload) + "=" + editor.preload(tuned_preload);
    }
    line.insert(part.begin, missing);
  }
}

}  // namespace uctrace::launcher
