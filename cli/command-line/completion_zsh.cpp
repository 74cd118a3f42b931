#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

// For a specification of _arguments between single quotes.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result;
}

std::string action(const OptionEntry& option) {
  if (option.value.empty()) return "";
  if (!option.choices.empty()) {
    return fmt::format(":{}:({})", "value", fmt::join(option.choices, " "));
  }
  if (option.of_run) {
    return fmt::format(":value:_uctrace_values {}", option.names.back().substr(2));
  }
  if (option.value == "DIR") return ":folder:_files -/";
  if (option.value == "FILE") return ":file:_files";
  return ":" + escaped(option.value) + ":";
}

std::string specification(const OptionEntry& option) {
  const std::string rest = fmt::format("'[{}]{}'", escaped(option.help), action(option));
  if (option.names.size() == 1) {
    return fmt::format("'{}{}{}", option.names.front(), option.value.empty() ? "" : "=",
                       rest.substr(1));
  }
  return fmt::format("'({})'{{{}}}{}", fmt::join(option.names, " "), fmt::join(option.names, ","),
                     rest);
}

bool takes_command(const VerbEntry& verb) {
  return verb.text.arguments.find("COMMAND") != std::string::npos;
}

}  // namespace

std::string zsh_completion(const Manual& manual) {
  std::string text =
      "#compdef uctrace\n# generated from the command line of uctrace\n\n"
      "# Of the run that the line names, with commas between them.\n"
      "_uctrace_values() {\n"
      "  local word folder\n  local -a values\n"
      "  for word in ${words[2,CURRENT-1]}; do\n"
      "    [[ $word != -* && -d ${(Q)word} ]] && folder=${(Q)word}\n  done\n"
      "  values=(${(f)\"$($_uctrace_program values-of-run $1 ${folder:+$folder} 2>/dev/null)\"})\n"
      "  _sequence compadd - $values\n}\n\n"
      "_uctrace() {\n  local _uctrace_program=$words[1]\n"
      "  local -a verbs\n  verbs=(\n";
  for (const VerbEntry& verb : manual.verbs) {
    text += fmt::format("    '{}:{}'\n", verb.name, escaped(verb.summary));
  }
  text +=
      "    'help:Print the help of a verb'\n    'version:Print the version'\n  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe -t verbs verb verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const VerbEntry& verb : manual.verbs) {
    text += fmt::format("    {})\n      _arguments -S", verb.name);
    for (const OptionEntry& option : verb.options) {
      text += " \\\n        " + specification(option);
    }
    for (std::size_t i = 0; i < verb.operands.size(); ++i) {
      text += fmt::format(" \\\n        '{}:{}:_files{}'", i + 1, escaped(verb.operands[i].meaning),
                          is_folder(verb.operands[i].term) ? " -/" : "");
    }
    if (takes_command(verb)) text += " \\\n        '*::command:_normal'";
    text += "\n      ;;\n";
  }
  return text + "    help) _describe -t verbs verb verbs ;;\n  esac\n}\n\n_uctrace \"$@\"\n";
}

}  // namespace uctrace::cli
