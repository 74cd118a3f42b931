// Hydra, the launcher of MPICH and Intel MPI. It passes the whole environment on, unless the line
// or a variable restricts that; variables set by -genv and -env are always passed on, and -env
// overrides -genv.
#include <algorithm>

#include "launcher-line/editor.hpp"

namespace uctrace::launcher {
namespace {

constexpr OptionTable kHydraOptions = {
    .none =
        "V check_mpi debug disable-auto-cleanup disable-hostname-propagation disable-x enable-x "
        "envall envnone genvall genvnone hybrid-hosts info l nolocal ordered-output pmi-aggregate "
        "pmi-noaggregate pmi-port print-all-exitcodes print-rank-map prepend-rank profile rr "
        "silent-abort skip-launch-node v verbose version",
    .one =
        "ai-ckpoint bind-to binding bootstrap bootstrap-exec bootstrap-exec-args branch-count "
        "configfile demux envexcl envlist errfile-pattern f genvexcl genvlist gpath "
        "gpu-subdevs-per-proc gpus-per-proc grr gtool gtoolfile gumask gwdir host hostfile hosts "
        "iface launcher launcher-exec localhost machine machinefile map-by membind n nameserver np "
        "order-nodes outfile-pattern path perhost ppn prepend-pattern ranks-per-proc rmk s timeout "
        "tmpdir topolib umask usize wdir",
    .two = "hostos",
    .one_or_two = "env genv",
    .long_with_one_dash = true,
    .dashes_end_options = false,
};

struct Scanned {
  std::vector<FoundOption> options;
  std::optional<std::size_t> unknown;
};

// The options of all parts: a ":" begins a new part only after a program.
Scanned options_of(const Words& words, std::size_t begin) {
  Scanned all;
  while (begin < words.size() && !all.unknown) {
    OptionScan scan = scan_options(words, begin, words.size(), kHydraOptions);
    all.unknown = scan.unknown;
    all.options.insert(all.options.end(), scan.options.begin(), scan.options.end());
    const auto colon =
        std::find(words.begin() + static_cast<std::ptrdiff_t>(scan.program), words.end(), ":");
    begin = static_cast<std::size_t>(colon - words.begin()) + 1;
  }
  return all;
}

bool restricts(const FoundOption& option) {
  constexpr std::string_view kNames[] = {"genvnone", "genvlist", "genvexcl",
                                         "envnone",  "envlist",  "envexcl"};
  return std::find(std::begin(kNames), std::end(kNames), option.name) != std::end(kNames);
}

bool sets(const FoundOption& option) { return option.name == "genv" || option.name == "env"; }

// Whether a line that is not understood could keep the environment from the job.
bool hydra_may_restrict(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("-genv") < 2 || word.find("-env") < 2 || word.find("-configfile") < 2;
  });
}

// Puts our libraries first in any LD_PRELOAD that the line sets; returns the names of what it sets
// for all parts.
void edit_settings(Line& line, const Scanned& scanned, const Editor& editor,
                   std::vector<std::string>& named) {
  for (const FoundOption& option : scanned.options) {
    if (!sets(option)) continue;
    const std::string setting = value_of(line, option);
    if (option.name == "genv") named.push_back(name_part(setting));
    if (name_part(setting) != kPreload) continue;
    if (option.arguments == 2) {
      line.replace(option.value_word + 1, editor.preload(line[option.value_word + 1]));
    } else {
      replace_value(line, option,
                    std::string(kPreload) + "=" + editor.preload(*value_part(setting)));
    }
  }
}

// A file with one part per line. True: it restricts the environment.
bool edit_config_file(Editor& editor, const FoundOption& option) {
  const std::string name = value_of(editor.line, option);
  const std::optional<std::string> text = editor.around.file(name);
  if (!text) {
    editor.result.unclear = "the configuration file '" + name + "' cannot be read";
    return false;
  }
  std::vector<std::string> lines = split(*text, '\n'), ignored;
  bool is_edited = false, restricted = false;
  for (std::string& line_text : lines) {
    Words words;
    for (std::string& word : split(line_text, ' ')) {
      if (!word.empty()) words.push_back(std::move(word));
    }
    if (words.empty() || words.front()[0] == '#') continue;
    Line line(words);
    const Scanned scanned = options_of(words, 0);
    if (scanned.unknown && hydra_may_restrict(words)) {
      editor.result.unclear =
          "uctrace does not know the option '" + words[*scanned.unknown] + "' in '" + name + "'";
      return false;
    }
    edit_settings(line, scanned, editor, ignored);
    restricted |= std::any_of(scanned.options.begin(), scanned.options.end(), restricts);
    if (!line.is_edited()) continue;
    is_edited = true;
    line_text = join(line.result(), ' ');
  }
  if (is_edited) replace_value(editor.line, option, editor.copy_of(join(lines, '\n')));
  return restricted;
}

bool environment_restricts(const Environment& environment) {
  for (const char* name : {"HYDRA_ENV", "I_MPI_HYDRA_ENV"}) {
    const std::optional<std::string> value = environment.get(name);
    if (value && *value != "all") return true;
  }
  return false;
}

}  // namespace

const OptionTable& hydra_options() { return kHydraOptions; }

void edit_hydra(Editor& editor) {
  Line& line = editor.line;
  const std::size_t begin = editor.launcher + 1;
  const Scanned scanned = options_of(line.words(), begin);
  bool restricted = environment_restricts(editor.environment);
  if (scanned.unknown) {
    const bool matters = restricted || hydra_may_restrict(line.words());
    if (matters) {
      editor.result.unclear =
          "uctrace does not know the option '" + line[*scanned.unknown] + "' of Hydra";
    }
    return;
  }
  std::vector<std::string> named;
  edit_settings(line, scanned, editor, named);
  for (const FoundOption& option : scanned.options) {
    restricted |= restricts(option);
    if (option.name == "configfile") restricted |= edit_config_file(editor, option);
  }
  if (!restricted) return;
  for (const Variable& variable : editor.variables()) {
    if (std::find(named.begin(), named.end(), variable.name) != named.end()) continue;
    line.insert(begin, {"-genv", variable.name, variable.value});
  }
}

}  // namespace uctrace::launcher
