// Finding the options of a launcher, and where its program begins. An option is known with the
// number of its arguments, or not at all. After an unknown option nobody guesses where the program
// begins.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher-line/line.hpp"

namespace uctrace::launcher {

// The options of one program, by names without dashes, separated by spaces.
struct OptionTable {
  std::string_view none, one, two;  // by the number of their arguments
  // `-genv NAME VALUE` or `-genv NAME=VALUE`.
  std::string_view one_or_two = {};
  std::string_view optional = {};   // an argument only after "=" or attached to the letter
  bool long_with_one_dash = false;  // -name; else a dash begins a cluster of letters
  bool abbreviated = false;         // a unique prefix of a long name is enough
  bool dashes_end_options = true;   // "--"
};

struct FoundOption {
  std::string name;
  std::size_t word = 0;          // its position
  std::size_t value_word = 0;    // the word with its first argument
  std::size_t value_offset = 0;  // where in that word the argument begins
  std::size_t arguments = 0;     // words that follow it and are its own
  bool has_value = false;
};

struct OptionScan {
  std::vector<FoundOption> options;
  std::size_t program = 0;  // the first word that is no option; `end` if there is none
  // The option that the table lacks, or whose arguments are missing.
  std::optional<std::size_t> unknown;
};

// Of words [begin, end).
OptionScan scan_options(const Words& words, std::size_t begin, std::size_t end,
                        const OptionTable& table);

// The first argument of an option, and its replacement.
std::string value_of(const Line& line, const FoundOption& option);
void replace_value(Line& line, const FoundOption& option, const std::string& value);

}  // namespace uctrace::launcher
