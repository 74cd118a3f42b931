#include "cli/command-line/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command-line/grammar.hpp"
#include "cli/command-line/manual.hpp"
#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/model/suggestion.hpp"

namespace uctrace::cli {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& what, const std::string& why, const std::string& help,
                         const std::string& suggestion = "") {
  throw Error({.what = what,
               .why = why,
               .to_do = suggestion.empty() ? fmt::format("see `{}`", help)
                                           : fmt::format("{} See `{}`", suggestion, help)});
}

Verb& find_verb(Grammar& grammar, const std::string& name) {
  Words names = {"help", "version"};
  for (Verb& verb : grammar.verbs()) {
    if (verb.name == name) return verb;
    names.push_back(verb.name);
  }
  const char* kind = name.starts_with('-') ? "option" : "verb";
  refuse(name.empty() ? "''" : name, fmt::format("no such {}", kind), "uctrace help",
         did_you_mean(name, names));
}

[[noreturn]] void refuse_leftover(const Verb& verb, const std::string& word) {
  const std::string help = "uctrace help " + verb.name;
  if (!word.starts_with('-')) refuse(word, "not expected after the other arguments", help);
  Words known;
  for (const CLI::Option* option : verb.app->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  refuse(word, fmt::format("`uctrace {}` has no such option", verb.name), help,
         did_you_mean(word.substr(0, word.find('=')), known));
}

// False: help was asked for.
bool fill(Verb& verb, Words arguments) {
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that parse() takes them from
    verb.app->parse(std::move(arguments));
    return true;
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    refuse(verb.name, error.what(), "uctrace help " + verb.name);
  }
}

PrintCommand help_for(const std::string& verb) { return {help_text(make_manual(), verb)}; }

// Everything after the first "--" belongs to the program, unless the program began before it and
// the "--" is its own.
struct Halves {
  Words mine, behind;
  bool has_dashes = false;
};

Halves split_at_dashes(Words arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  Halves halves;
  halves.has_dashes = dashes != arguments.end();
  if (halves.has_dashes) halves.behind.assign(dashes + 1, arguments.end());
  arguments.erase(dashes, arguments.end());
  halves.mine = std::move(arguments);
  return halves;
}

Command parse_record(Grammar& grammar, Verb& verb, const Words& arguments) {
  Halves halves = split_at_dashes(arguments);
  if (!fill(verb, std::move(halves.mine))) return help_for(verb.name);
  Words& program = grammar.record().program;
  program = verb.app->remaining();
  if (!program.empty()) {
    if (program.front().starts_with('-')) refuse_leftover(verb, program.front());
    if (halves.has_dashes) program.push_back("--");
  }
  program.insert(program.end(), halves.behind.begin(), halves.behind.end());
  if (program.empty() || program.front().empty()) {
    refuse("record", "there is no command to run", "uctrace help record");
  }
  return verb.result();
}

// After "--" comes a folder, even if its name begins like an option.
Words without_dashes(const Words& arguments) {
  Halves halves = split_at_dashes(arguments);
  for (const std::string& word : halves.behind) {
    halves.mine.push_back(word.starts_with('-') ? "./" + word : word);
  }
  return halves.mine;
}

Command parse_reader(Verb& verb, const Words& arguments) {
  if (!fill(verb, without_dashes(arguments))) return help_for(verb.name);
  const Words leftover = verb.app->remaining();
  if (!leftover.empty()) refuse_leftover(verb, leftover.front());
  return verb.result();
}

Command parse_check(Grammar& grammar, Verb& verb, const Words& arguments) {
  Halves halves = split_at_dashes(arguments);
  grammar.check().program = std::move(halves.behind);
  if (!fill(verb, std::move(halves.mine))) return help_for(verb.name);
  const Words leftover = verb.app->remaining();
  if (!leftover.empty() && !halves.has_dashes && !leftover.front().starts_with("--")) {
    refuse(leftover.front(), "not expected after the folder", "uctrace help check",
           "put -- in front of the command.");
  }
  if (!leftover.empty()) refuse_leftover(verb, leftover.front());
  return verb.result();
}

Command parse_diff(Verb& verb, const Words& arguments) {
  Command command = parse_reader(verb, arguments);
  const auto* const diff = std::get_if<DiffCommand>(&command);
  if (diff != nullptr && diff->b.folder.empty()) {
    refuse("diff", "two runs are compared, and not both are named", "uctrace help diff",
           "give the folders of both.");
  }
  return command;
}

Command parse_help(Grammar& grammar, const Words& words) {
  if (words.empty()) return PrintCommand{overview_text(make_manual())};
  if (words.size() > 1) refuse(words[1], "not expected after the other arguments", "uctrace help");
  if (words.front() == "help" || words.front() == "version") {
    return PrintCommand{overview_text(make_manual())};
  }
  return help_for(find_verb(grammar, words.front()).name);
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return PrintCommand{overview_text(make_manual())};
  Grammar grammar;
  const std::string& name = arguments.front();
  const Words rest(arguments.begin() + 1, arguments.end());
  if (name == "help" || name == "--help" || name == "-h") return parse_help(grammar, rest);
  if (name == "version" || name == "--version") {
    if (!rest.empty())
      refuse(rest.front(), "not expected after the other arguments", "uctrace help");
    return PrintCommand{fmt::format("uctrace {}\n", log::kToolVersion)};
  }
  if (name == kValuesVerb && !rest.empty()) {
    return rest.size() == 1 ? ValuesCommand{rest[0]} : ValuesCommand{rest[0], rest[1]};
  }
  Verb& verb = find_verb(grammar, name);
  if (name == "record") return parse_record(grammar, verb, rest);
  if (name == "check") return parse_check(grammar, verb, rest);
  if (name == "diff") return parse_diff(verb, rest);
  return parse_reader(verb, rest);
}

}  // namespace uctrace::cli
