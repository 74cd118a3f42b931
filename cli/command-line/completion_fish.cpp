#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

constexpr const char* kHead = R"(# fish completion for uctrace; generated from its command line

function __uctrace_no_verb
    test (count (commandline -opc)) -eq 1
end

function __uctrace_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"; and not contains -- -- $words
end

function __uctrace_behind_dashes
    contains -- -- (commandline -opc)
end

# Of the run that the line names; what stands before the last comma stays.
function __uctrace_values
    set -l words (commandline -opc)
    set -l folder
    for word in $words[3..-1]
        if not string match -q -- '-*' $word; and test -d $word
            set folder $word
        end
    end
    set -l current (string replace -r '^--[a-z-]*=' '' -- (commandline -ct))
    set -l before (string match -r '^.*,' -- $current)
    for value in ($words[1] values-of-run $argv[1] $folder 2>/dev/null)
        echo "$before$value"
    end
end

complete -c uctrace -n 'not __uctrace_behind_dashes' -f
complete -c uctrace -n __uctrace_behind_dashes -a '(__fish_complete_command)'
)";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string verb_line(const std::string& name, const std::string& summary) {
  return fmt::format("complete -c uctrace -n __uctrace_no_verb -a {} -d {}\n", name,
                     quoted(summary));
}

std::string option_line(const std::string& verb, const OptionEntry& option) {
  std::string line = fmt::format("complete -c uctrace -n '__uctrace_verb {}'", verb);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    line += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
  } else if (option.of_run) {
    line += fmt::format(" -x -a '(__uctrace_values {})'", option.names.back().substr(2));
  } else if (option.value == "DIR") {
    line += " -x -a '(__fish_complete_directories)'";
  } else if (option.value == "FILE") {
    line += " -r -F";
  } else if (!option.value.empty()) {
    line += " -x";
  }
  return line + " -d " + quoted(option.help) + "\n";
}

}  // namespace

std::string fish_completion(const Manual& manual) {
  std::string text = kHead;
  for (const VerbEntry& verb : manual.verbs) text += verb_line(verb.name, verb.summary);
  text += verb_line("help", "Print the help of a verb") + verb_line("version", "Print the version");
  for (const VerbEntry& verb : manual.verbs) {
    text += fmt::format("complete -c uctrace -n '__uctrace_verb help' -a {} -d {}\n", verb.name,
                        quoted(verb.summary));
    for (const OptionEntry& option : verb.options) text += option_line(verb.name, option);
    if (verb.operands.empty()) continue;
    text += fmt::format("complete -c uctrace -n '__uctrace_verb {}' {}\n", verb.name,
                        is_folder(verb.operands.front().term) ? "-a '(__fish_complete_directories)'" : "-F");
  }
  return text;
}

}  // namespace uctrace::cli
