#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "cli/command-line/manual.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"

namespace uctrace::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTermWidth = 32;

// `text` broken at spaces, from column `column` on.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t at = column;
  for (std::string word; words >> word;) {
    const bool first = result.empty();
    if (!first && at + 1 + word.size() > kWidth) {
      result += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
  }
  return result + '\n';
}

// A term and its meaning in two columns; a long term has a line of its own.
std::string entry(const std::string& term, const std::string& meaning) {
  std::string line = "  " + term;
  if (line.size() + 2 > kTermWidth)
    line += "\n" + std::string(kTermWidth, ' ');
  else
    line.resize(kTermWidth, ' ');
  return line + wrapped(meaning, kTermWidth, kTermWidth);
}

std::string definitions(const std::string& title, const std::vector<Definition>& list) {
  if (list.empty()) return "";
  std::string text = "\n" + title + ":\n";
  for (const Definition& definition : list) text += entry(definition.term, definition.meaning);
  return text;
}

std::string examples_text(const std::vector<Definition>& examples) {
  std::size_t width = 0;
  std::size_t meaning = 0;
  for (const Definition& example : examples) {
    width = std::max(width, example.term.size());
    meaning = std::max(meaning, example.meaning.size());
  }
  std::string text = "\nExamples:\n";
  for (const Definition& example : examples) {
    text += 2 + width + 2 + meaning > kWidth
                ? fmt::format("  {}\n      {}\n", example.term, example.meaning)
                : fmt::format("  {:<{}}  {}\n", example.term, width, example.meaning);
  }
  return text;
}

std::string options_text(const VerbEntry& verb) {
  std::string text, group;
  if (!verb.operands.empty()) text += "\n";
  for (const Definition& operand : verb.operands) text += entry(operand.term, operand.meaning);
  text += "\nOptions:\n";
  for (const OptionEntry& option : verb.options) {
    if (option.group != group) text += "\n" + option.group + ":\n";
    group = option.group;
    text += entry(option.spelled(), option.help);
  }
  return text;
}

}  // namespace

std::string overview_text(const Manual& manual) {
  std::string text = "uctrace " + manual.summary + ".\n\n";
  for (const VerbEntry& verb : manual.verbs) {
    text += entry(fmt::format("uctrace {} {}", verb.name, verb.text.arguments), verb.summary);
  }
  text += entry("uctrace help [VERB] | version",
                "DIR is uctrace.data if left out, in a batch job uctrace.data.JOBID");
  return text + examples_text(manual.examples);
}

std::string help_text(const Manual& manual, const std::string& name) {
  const auto verb = std::find_if(manual.verbs.begin(), manual.verbs.end(),
                                 [&](const VerbEntry& entry) { return entry.name == name; });
  std::string text = verb->summary + ".\n\nUsage: " + verb->usage() + "\n";
  for (const std::string& paragraph : verb->text.description)
    text += "\n" + wrapped(paragraph, 0, 0);
  return text + options_text(*verb) + examples_text(verb->text.examples) +
         definitions("Exit status", verb->text.exit_status) +
         fmt::format("\nMore: man uctrace-{}\n", verb->name);
}

int run(const PrintCommand& command) {
  end_quietly_on_closed_pipe();
  std::cout << command.text;
  return kOk;
}

}  // namespace uctrace::cli
