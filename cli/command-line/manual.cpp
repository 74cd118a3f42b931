#include "cli/command-line/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/command-line/grammar.hpp"
#include "event-log/format/version.hpp"
#include "log-merger/summaries/run_values.hpp"

namespace uctrace::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool has_values(const std::string& name) {
  static const std::vector<std::string> kOptions = options_with_values();
  return name.starts_with("--") &&
         std::find(kOptions.begin(), kOptions.end(), name.substr(2)) != kOptions.end();
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{.names = {},
                    .value = {},
                    .choices = {},
                    .of_run = false,
                    .help = option.get_description(),
                    .group = option.get_group() == "Options" ? "" : option.get_group()};
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_expected_max() == 0) return entry;
  entry.value = option.get_type_name();
  entry.of_run = std::any_of(entry.names.begin(), entry.names.end(), has_values);
  if (entry.value.find('|') != std::string::npos) entry.choices = split(entry.value, '|');
  return entry;
}

VerbEntry entry_of(const Verb& verb) {
  VerbEntry entry{.name = verb.name,
                  .summary = verb.app->get_description(),
                  .text = verb_text(verb.name),
                  .operands = {},
                  .options = {}};
  for (const CLI::Option* option : verb.app->get_options()) {
    if (option->get_positional()) {
      entry.operands.push_back({option->get_name(true), option->get_description()});
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

bool is_folder(const std::string& name) { return name == "DIR" || name == "A" || name == "B"; }

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
