// The manual of the command: options from the grammar, texts from verb_texts.cpp. Help, manual
// pages and completion are three ways to print it.
#pragma once

#include <string>
#include <vector>

namespace uctrace::cli {

struct OptionEntry {
  std::vector<std::string> names;    // "-o", "--output"
  std::string value;                 // "DIR", "N", "table|csv"; empty for a flag
  std::vector<std::string> choices;  // allowed values, if they are a list
  bool of_run = false;               // a value that occurs in the run
  std::string help;                  // one line; ends with the default in brackets
  std::string group;                 // heading above it, empty for the first group

  std::string spelled() const;  // "-o, --output DIR"
};

// A term and what it means: an example, an exit status, a variable, a file.
struct Definition {
  std::string term, meaning;
};

// The parts of a verb's manual that the grammar lacks. Paragraphs and meanings are plain text.
struct VerbText {
  std::string arguments;  // after the options: "[DIR]"
  std::vector<std::string> description;
  std::vector<Definition> examples, exit_status;
};

struct VerbEntry {
  std::string name, summary;
  VerbText text;
  std::vector<Definition> operands;  // "DIR" and what it is
  std::vector<OptionEntry> options;

  std::string usage() const;  // "uctrace report [OPTIONS] [DIR]"
};

// A verb that no help shows: completion scripts call it.
inline constexpr const char* kValuesVerb = "values-of-run";

struct Manual {
  std::string version, summary;
  std::vector<std::string> description;
  std::vector<VerbEntry> verbs;
  std::vector<Definition> examples, environment, files;
};

// Whether an operand, or the value of an option, is a folder.
bool is_folder(const std::string& name);

Manual make_manual();

// The texts of one verb; Manual's own with an empty name.
VerbText verb_text(const std::string& verb);
std::vector<Definition> environment_texts();
std::vector<Definition> file_texts();

// For a terminal: what `uctrace` and `uctrace help VERB` print.
std::string overview_text(const Manual& manual);
std::string help_text(const Manual& manual, const std::string& name);

// Manual pages, in roff's man macros: uctrace.1, or uctrace-VERB.1 of one verb.
std::string man_page(const Manual& manual);
std::string man_page(const Manual& manual, const VerbEntry& verb);

// Scripts for the shells.
std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace uctrace::cli
