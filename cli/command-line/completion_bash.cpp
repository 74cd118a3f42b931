#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

// Reads the word before the cursor; after -- comes the user's command. Bash splits --option=value
// into three words.
constexpr const char* kHead = R"bash(# bash completion for uctrace; generated from its command line

_uctrace_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_uctrace_paths() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

# Of the run that the line names; what stands before the last comma stays.
_uctrace_values() {
    local i folder= before= last=$2 value
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* && -d ${COMP_WORDS[i]} ]]; then folder=${COMP_WORDS[i]}; fi
    done
    if [[ $last == *,* ]]; then before=${last%,*},; last=${last##*,}; fi
    while IFS= read -r value; do
        if [[ $value == "$last"* ]]; then COMPREPLY+=("$before$(printf '%q' "$value")"); fi
    done < <("${COMP_WORDS[0]}" values-of-run "$1" ${folder:+"$folder"} 2>/dev/null)
}

_uctrace_command() {
    local offset=$1 cur=$2
    if declare -F _command_offset >/dev/null; then
        _command_offset "$offset"
    elif ((COMP_CWORD == offset)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
        _uctrace_paths -f "$cur"
    fi
}

_uctrace() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} i
    COMPREPLY=()
)bash";

std::string option_names(const VerbEntry& verb) {
  std::vector<std::string> names;
  for (const OptionEntry& option : verb.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string action(const OptionEntry& option) {
  if (!option.choices.empty()) {
    return fmt::format("_uctrace_words '{}' \"$cur\"", fmt::join(option.choices, " "));
  }
  if (option.of_run) return fmt::format("_uctrace_values {} \"$cur\"", option.names.back().substr(2));
  if (option.value == "DIR") return "_uctrace_paths -d \"$cur\"";
  if (option.value == "FILE") return "_uctrace_paths -f \"$cur\"";
  return ":";
}

std::string value_cases(const VerbEntry& verb) {
  std::string text;
  for (const OptionEntry& option : verb.options) {
    if (option.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) {
      pattern += (pattern.empty() ? "" : "|") + verb.name + ":" + name;
    }
    text += fmt::format("        {}) {}; return ;;\n", pattern, action(option));
  }
  return text;
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  std::vector<std::string> verbs;
  for (const VerbEntry& verb : manual.verbs) verbs.push_back(verb.name);
  const std::string list = fmt::format("{}", fmt::join(verbs, " "));
  std::string text = kHead;
  text += "    if ((COMP_CWORD == 1)); then\n";
  text += fmt::format("        _uctrace_words '{} help version --help --version' \"$cur\"\n", list);
  text += "        return\n    fi\n";
  text += R"(    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            _uctrace_command $((i + 1)) "$cur"
            return
        fi
    done
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $verb:$prev in
)";
  for (const VerbEntry& verb : manual.verbs) text += value_cases(verb);
  text += "    esac\n    case $verb in\n";
  for (const VerbEntry& verb : manual.verbs) {
    text += fmt::format("        {}) if [[ $cur == -* ]]; then _uctrace_words '{}' \"$cur\"",
                        verb.name, option_names(verb));
    if (!verb.operands.empty()) {
      text += fmt::format("; else _uctrace_paths {} \"$cur\"",
                          is_folder(verb.operands.front().term) ? "-d" : "-f");
    }
    text += "; fi ;;\n";
  }
  text += fmt::format("        help) _uctrace_words '{}' \"$cur\" ;;\n", list);
  return text + "    esac\n}\n\ncomplete -F _uctrace uctrace\n";
}

}  // namespace uctrace::cli
