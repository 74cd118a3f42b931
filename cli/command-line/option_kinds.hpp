// Kinds of options, with checks whose errors say what the value should have been. Private to the
// grammar.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uctrace::cli {

using Words = std::vector<std::string>;

// Heading of the options that choose messages, transfers and calls.
inline constexpr const char* kChoosing = "Choose what to look at";

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

template <typename Value>
Words names_of(const Choices<Value>& choices) {
  Words names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return names;
}

// Words as help, manual pages and completion show them: "a|b|c".
std::string joined(const Words& names);

CLI::Validator one_of(const std::string& option, const Words& names);
CLI::Validator not_empty(const std::string& option);
CLI::Validator a_number(const std::string& option);
// Of what is a number.
CLI::Validator within(const std::string& option, std::size_t least, std::size_t most);
inline constexpr std::size_t kMostSeconds = 31'536'000;  // longest interval: a year

template <typename Number>
CLI::Option* add_number(CLI::App& verb, const std::string& option, Number& number,
                        const std::string& help) {
  return verb.add_option(option, number, help)->check(a_number(option))->type_name("N");
}

CLI::Option* add_path(CLI::App& verb, const std::string& option, std::filesystem::path& path,
                      const std::string& kind, const std::string& help);
void add_threads(CLI::App& verb, std::size_t& threads);
// At least `least` bytes, whole MiB.
void add_size(CLI::App& verb, const std::string& option, std::uint64_t& bytes, std::uint64_t least,
              const std::string& help);
// Any number of bytes, with a unit or without.
void add_bytes(CLI::App& verb, const std::string& option, std::optional<std::uint64_t>& bytes,
               const std::string& help);
void add_limit(CLI::App& verb, std::optional<std::size_t>& limit, const std::string& help);
void add_time(CLI::App& verb, const std::string& option, std::optional<std::uint64_t>& value,
              const std::string& help);
void add_duration(CLI::App& verb, const std::string& option, std::uint64_t& value_ns,
                  const std::string& help);
// Sizes with commas between them, sorted.
void add_sizes(CLI::App& verb, const std::string& option, std::vector<std::uint64_t>& sizes,
               const std::string& help);
CLI::Option* add_list(CLI::App& verb, const char* option, Words& values, const char* help,
                      const char* kind = "A,B");

// `value` is a Value, or an optional one.
template <typename Value, typename Chosen>
void add_choice(CLI::App& verb, const std::string& option, Chosen& value,
                const Choices<Value>& choices, const std::string& help) {
  verb.add_option_function<std::string>(
          option,
          [&value, &choices](const std::string& name) {
            for (const auto& choice : choices) {
              if (choice.first == name) value = choice.second;
            }
          },
          help)
      ->check(one_of(option, names_of(choices)))
      ->type_name(joined(names_of(choices)));
}

// Several choices with commas between them.
template <typename Value>
void add_choices(CLI::App& verb, const std::string& option, std::vector<Value>& values,
                 const Choices<Value>& choices, const std::string& help) {
  verb.add_option_function<Words>(
          option,
          [&values, &choices](const Words& names) {
            values.clear();
            for (const std::string& name : names) {
              for (const auto& choice : choices) {
                const bool again =
                    std::find(values.begin(), values.end(), choice.second) != values.end();
                if (choice.first == name && !again) values.push_back(choice.second);
              }
            }
          },
          help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of(option, names_of(choices)))
      ->type_name(joined(names_of(choices)));
}

}  // namespace uctrace::cli
