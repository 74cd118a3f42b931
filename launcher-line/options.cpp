#include "launcher-line/options.hpp"

#include <algorithm>

namespace uctrace::launcher {
namespace {

enum class Takes { none, one, two, one_or_two, optional };

struct Known {
  std::string name;
  Takes takes;
};

template <typename Visit>
void for_each_name(std::string_view names, Visit visit) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (end != 0) visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

std::vector<Known> options_of(const OptionTable& table) {
  std::vector<Known> all;
  const auto add = [&](std::string_view names, Takes takes) {
    for_each_name(names, [&](std::string_view name) { all.push_back({std::string(name), takes}); });
  };
  add(table.none, Takes::none);
  add(table.one, Takes::one);
  add(table.two, Takes::two);
  add(table.one_or_two, Takes::one_or_two);
  add(table.optional, Takes::optional);
  return all;
}

class Scanner {
 public:
  Scanner(const Words& words, std::size_t begin, std::size_t end, const OptionTable& table)
      : words_(words), table_(table), known_(options_of(table)), at_(begin), end_(end) {}

  OptionScan scan();

 private:
  bool take_option();
  bool take_cluster();
  const Known* find(std::string_view name, bool may_be_short_for) const;
  bool take(const Known& option, std::size_t value_offset);

  const Words& words_;
  const OptionTable& table_;
  const std::vector<Known> known_;
  std::size_t at_;
  const std::size_t end_;
  OptionScan result_;
};

OptionScan Scanner::scan() {
  while (at_ < end_) {
    const std::string& word = words_[at_];
    if (word == "--" && table_.dashes_end_options) {
      ++at_;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;
    if (!take_option()) {
      result_.unknown = at_;
      break;
    }
  }
  result_.program = at_;
  return std::move(result_);
}

const Known* Scanner::find(std::string_view name, bool may_be_short_for) const {
  const Known* found = nullptr;
  for (const Known& option : known_) {
    if (option.name == name) return &option;
    if (!may_be_short_for || name.size() < 2 || !option.name.starts_with(name)) continue;
    if (found != nullptr) return nullptr;
    found = &option;
  }
  return found;
}

bool Scanner::take_option() {
  const std::string& word = words_[at_];
  const std::size_t dashes = word.starts_with("--") ? 2 : 1;
  if (dashes == 1 && !table_.long_with_one_dash) return take_cluster();
  const std::size_t equals = word.find('=');
  const std::size_t name_end = std::min(equals, word.size());
  const Known* option =
      find(std::string_view(word).substr(dashes, name_end - dashes), table_.abbreviated);
  return option != nullptr && take(*option, equals == std::string::npos ? 0 : equals + 1);
}

// -abc: letters without argument, then at most one whose argument is the rest or the next word.
bool Scanner::take_cluster() {
  const std::string& word = words_[at_];
  for (std::size_t i = 1; i < word.size(); ++i) {
    const Known* option = find(std::string_view(word).substr(i, 1), false);
    if (option == nullptr) return false;
    const bool is_last = i + 1 == word.size();
    if (is_last) return take(*option, 0);
    if (option->takes != Takes::none) return take(*option, i + 1);
  }
  return false;
}

// `value_offset`: where the argument begins in the word itself, 0 = not in it.
bool Scanner::take(const Known& option, std::size_t value_offset) {
  FoundOption found{.name = option.name, .word = at_};
  if (value_offset != 0) {
    if (option.takes != Takes::one && option.takes != Takes::optional) return false;
    found.value_word = at_;
    found.value_offset = value_offset;
    found.has_value = true;
  } else if (option.takes != Takes::none && option.takes != Takes::optional) {
    if (at_ + 1 >= end_) return false;
    found.value_word = at_ + 1;
    found.has_value = true;
    const bool is_pair = option.takes == Takes::one_or_two &&
                         words_[found.value_word].find('=') == std::string::npos;
    found.arguments = option.takes == Takes::two || is_pair ? 2 : 1;
    if (at_ + found.arguments >= end_) return false;
  }
  at_ += 1 + found.arguments;
  result_.options.push_back(std::move(found));
  return true;
}

}  // namespace

OptionScan scan_options(const Words& words, std::size_t begin, std::size_t end,
                        const OptionTable& table) {
  return Scanner(words, begin, end, table).scan();
}

std::string value_of(const Line& line, const FoundOption& option) {
  return line[option.value_word].substr(option.value_offset);
}

void replace_value(Line& line, const FoundOption& option, const std::string& value) {
  line.replace(option.value_word, line[option.value_word].substr(0, option.value_offset) + value);
}

}  // namespace uctrace::launcher
