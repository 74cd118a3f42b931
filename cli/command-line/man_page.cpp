// Manual pages in the macros of man(7), which groff and mandoc both read.
#include <fmt/format.h>

#include <sstream>

#include "cli/command-line/manual.hpp"

namespace uctrace::cli {
namespace {

// Makes minus signs that can be copied, and no line that begins like a request.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  if (!escaped.empty() && (escaped.front() == '.' || escaped.front() == '\'')) {
    escaped.insert(0, "\\&");
  }
  return escaped;
}

// Breaks a text into lines of reasonable length; roff ignores where they end.
std::string filled(const std::string& text) {
  constexpr std::size_t kWidth = 78;
  std::istringstream words(roff(text));
  std::string result;
  std::size_t at = 0;
  for (std::string word; words >> word;) {
    const bool breaks = at != 0 && at + 1 + word.size() > kWidth;
    const bool is_request = breaks && (word.front() == '.' || word.front() == '\'');
    if (at != 0) result += breaks ? '\n' : ' ';
    at = breaks ? word.size() : at + 1 + word.size();
    result += is_request ? "\\&" + word : word;
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string head(const Manual& manual, const std::string& name, const std::string& summary) {
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(".TH {} 1 \"\" \"uctrace {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(title), roff(manual.version), roff(name), roff(summary));
}

std::string section(const std::string& title) { return ".SH " + title + "\n"; }

std::string entry(const std::string& term, const std::string& meaning) {
  return ".TP\n" + term + "\n" + filled(meaning) + "\n";
}

std::string description(const std::vector<std::string>& paragraphs) {
  std::string text = section("DESCRIPTION");
  const char* separator = "";
  for (const std::string& paragraph : paragraphs) {
    text += separator + filled(paragraph) + "\n";
    separator = ".PP\n";
  }
  return text;
}

std::string definitions(const std::string& title, const std::vector<Definition>& list) {
  if (list.empty()) return "";
  std::string text = section(title);
  for (const Definition& definition : list) {
    text += entry(bold(definition.term), definition.meaning);
  }
  return text;
}

std::string option_term(const OptionEntry& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  return option.value.empty() ? text : text + " " + italic(option.value);
}

std::string options(const VerbEntry& verb) {
  std::string text = section("OPTIONS"), group;
  for (const Definition& operand : verb.operands) {
    text += entry(italic(operand.term), operand.meaning);
  }
  for (const OptionEntry& option : verb.options) {
    if (option.group != group) text += ".SS " + roff(option.group) + "\n";
    group = option.group;
    text += entry(option_term(option), option.help);
  }
  return text;
}

std::string see_also(const Manual& manual, const std::string& but) {
  std::string text = section("SEE ALSO");
  const char* separator = "";
  const auto add = [&](const std::string& page) {
    if (page == but) return;
    text += separator + bold(page) + "(1)";
    separator = ",\n";
  };
  add("uctrace");
  for (const VerbEntry& verb : manual.verbs) add("uctrace-" + verb.name);
  return text + "\n";
}

}  // namespace

std::string man_page(const Manual& manual) {
  std::string text = head(manual, "uctrace", manual.summary) + section("SYNOPSIS");
  for (const VerbEntry& verb : manual.verbs) {
    text += bold("uctrace " + verb.name) + " " + roff(verb.text.arguments) + "\n.br\n";
  }
  text += bold("uctrace help") + " [" + italic("VERB") + "] | " + bold("version") + "\n";
  text += description(manual.description) + section("VERBS");
  for (const VerbEntry& verb : manual.verbs) text += entry(bold(verb.name), verb.summary);
  text += entry(bold("help"), "Print the help of a verb, or an overview");
  text += entry(bold("version"), "Print the version");
  return text + definitions("EXAMPLES", manual.examples) +
         definitions("ENVIRONMENT", manual.environment) + definitions("FILES", manual.files) +
         see_also(manual, "uctrace");
}

std::string man_page(const Manual& manual, const VerbEntry& verb) {
  const std::string name = "uctrace-" + verb.name;
  return head(manual, name, verb.summary) + section("SYNOPSIS") + bold("uctrace " + verb.name) +
         " [" + italic("OPTIONS") + "] " + roff(verb.text.arguments) + "\n" +
         description(verb.text.description) + options(verb) +
         definitions("EXIT STATUS", verb.text.exit_status) +
         definitions("EXAMPLES", verb.text.examples) +
         definitions("ENVIRONMENT", manual.environment) + definitions("FILES", manual.files) +
         see_also(manual, name);
}

}  // namespace uctrace::cli
