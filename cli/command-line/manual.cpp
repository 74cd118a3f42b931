#include "cli/command-line/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "cli/command-line/grammar.hpp"
#include "event-log/format/version.hpp"

namespace uctrace::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{.names = {},
                    .value = {},
                    .choices = {},
                    .help = option.get_description(),
                    .group = option.get_group() == "Options" ? "" : option.get_group()};
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_expected_max() == 0) return entry;
  entry.value = option.get_type_name();
  if (entry.value.find('|') != std::string::npos) entry.choices = split(entry.value, '|');
  return entry;
}

VerbEntry entry_of(const Verb& verb) {
  VerbEntry entry{.name = verb.name,
                  .summary = verb.app->get_description(),
                  .text = verb_text(verb.name),
                  .argument = {},
                  .argument_help = {},
                  .options = {}};
  for (const CLI::Option* option : verb.app->get_options()) {
    if (option->get_positional()) {
      entry.argument = option->get_name(true);
      entry.argument_help = option->get_description();
    } else {
      entry.options.push_back(entry_of(*option));
    }
  }
  return entry;
}

}  // namespace

std::string OptionEntry::spelled() const {
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  return value.empty() ? text : text + " " + value;
}

std::string VerbEntry::usage() const {
  return fmt::format("uctrace {} [OPTIONS] {}", name, text.arguments);
}

Manual make_manual() {
  VerbText own = verb_text("");
  Manual manual{.version = log::kToolVersion,
                .summary = "shows where the bytes of a UCX or MPI job really went",
                .description = std::move(own.description),
                .verbs = {},
                .examples = std::move(own.examples),
                .environment = environment_texts(),
                .files = file_texts()};
  Grammar grammar;
  for (const Verb& verb : grammar.verbs()) manual.verbs.push_back(entry_of(verb));
  return manual;
}

}  // namespace uctrace::cli
