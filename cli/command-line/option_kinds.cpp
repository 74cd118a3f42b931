#include "cli/command-line/option_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "cli/command-line/size_option.hpp"
#include "cli/command-line/time_option.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/model/suggestion.hpp"

namespace uctrace::cli {

std::string joined(const Words& names) { return fmt::format("{}", fmt::join(names, "|")); }

// CLI11's own message for a failed check does not show the option; this one also names the nearest
// choice.
CLI::Validator one_of(const std::string& option, const Words& names) {
  return {[option, names](std::string& name) -> std::string {
            if (std::find(names.begin(), names.end(), name) != names.end()) return "";
            const std::string nearest = did_you_mean(name, names);
            throw Error({.what = fmt::format("{} {}", option, name),
                         .why = fmt::format("'{}' is not {}", name, joined(names)),
                         .to_do = nearest.empty() ? "choose one of these"
                                                  : nearest + " If not, choose one of these"});
          },
          ""};
}

// An empty word comes from an unset variable of a script; nobody means it.
CLI::Validator not_empty(const std::string& option) {
  return {[option](std::string& text) -> std::string {
            if (!text.empty()) return "";
            throw Error({.what = option,
                         .why = "its value is empty",
                         .to_do = "give a value, or leave it out"});
          },
          ""};
}

// CLI11 takes "-1" for a very large number, and its messages for a bad or too large number name
// neither the value nor a remedy.
CLI::Validator a_number(const std::string& option) {
  return {[option](std::string& number) -> std::string {
            std::uint64_t value = 0;
            const char* end = number.data() + number.size();
            const auto [last, error] = std::from_chars(number.data(), end, value);
            if (error == std::errc() && last == end) return "";
            const bool too_large = error == std::errc::result_out_of_range;
            const std::string why = number.starts_with('-')
                                        ? fmt::format("'{}' is less than 0", number)
                                    : too_large ? fmt::format("'{}' is too large", number)
                                                : fmt::format("'{}' is no number", number);
            throw Error({.what = fmt::format("{} {}", option, number),
                         .why = why,
                         .to_do = "give a whole number, such as 10"});
          },
          ""};
}

CLI::Validator within(const std::string& option, std::size_t least, std::size_t most) {
  return {[=](std::string& number) -> std::string {
            const std::size_t value = std::stoull(number);
            if (value >= least && value <= most) return "";
            throw Error({.what = fmt::format("{} {}", option, number),
                         .why = fmt::format("'{}' is not {} to {}", number, least, most),
                         .to_do = fmt::format("give a number from {} to {}", least, most)});
          },
          ""};
}

// `parse` reads the text; `kind` and `examples` are for the error message.
CLI::Validator more_than_zero(const std::string& option,
                              std::optional<std::uint64_t> (*parse)(std::string_view),
                              const char* kind, const char* examples) {
  return {[=](std::string& text) -> std::string {
            if (parse(text).value_or(0) != 0) return "";
            throw Error({.what = fmt::format("{} {}", option, text),
                         .why = fmt::format("'{}' is no {}", text, kind),
                         .to_do = fmt::format("give {}", examples)});
          },
          ""};
}

CLI::Option* add_path(CLI::App& verb, const std::string& option, std::filesystem::path& path,
                      const std::string& kind, const std::string& help) {
  const std::string name = option.substr(option.find(',') + 1);
  return verb.add_option(option, path, help)->check(not_empty(name))->type_name(kind);
}

void add_threads(CLI::App& verb, std::size_t& threads) {
  add_number(verb, "--threads", threads, "Threads that merge the logs, at most [one a CPU]")
      ->check(CLI::Validator(
          [](std::string& number) -> std::string {
            if (number.find_first_not_of('0') != std::string::npos) return "";
            throw Error({.what = "--threads " + number,
                         .why = fmt::format("'{}' is less than 1", number),
                         .to_do = "give a whole number, such as 2"});
          },
          ""));
}

void add_size(CLI::App& verb, const std::string& option, std::uint64_t& bytes, std::uint64_t least,
              const std::string& help) {
  verb.add_option_function<std::string>(
          option, [&bytes](const std::string& text) { bytes = *parse_size_bytes(text); }, help)
      ->check(CLI::Validator(
          [=](std::string& text) -> std::string {
            const auto size = parse_size_bytes(text);
            if (size && *size >= least) return "";
            throw Error({.what = fmt::format("{} {}", option, text),
                         .why = size ? fmt::format("'{}' is less than {}M", text, least >> 20)
                                     : fmt::format("'{}' is no size", text),
                         .to_do = fmt::format("give a size such as {}M or 2G",
                                              std::max<std::uint64_t>(least >> 20, 64))});
          },
          ""))
      ->type_name("SIZE");
}

void add_bytes(CLI::App& verb, const std::string& option, std::optional<std::uint64_t>& bytes,
               const std::string& help) {
  verb.add_option_function<std::string>(
          option, [&bytes](const std::string& text) { bytes = parse_size_bytes(text); }, help)
      ->check(CLI::Validator(
          [option](std::string& text) -> std::string {
            if (parse_size_bytes(text)) return "";
            throw Error({.what = fmt::format("{} {}", option, text),
                         .why = fmt::format("'{}' is no size", text),
                         .to_do = "give a size such as 4096, 64K or 1M"});
          },
          ""))
      ->type_name("SIZE")
      ->group(kChoosing);
}

void add_limit(CLI::App& verb, std::optional<std::size_t>& limit, const std::string& help) {
  add_number(verb, "--limit", limit, help);
}

void add_time(CLI::App& verb, const std::string& option, std::optional<std::uint64_t>& value,
              const std::string& help) {
  verb.add_option_function<std::string>(
          option, [&value](const std::string& text) { value = parse_time_ns(text); }, help)
      ->check(CLI::Validator(
          [option](std::string& text) -> std::string {
            if (parse_time_ns(text)) return "";
            throw Error({.what = fmt::format("{} {}", option, text),
                         .why = fmt::format("'{}' is no time of a run", text),
                         .to_do = "give a time such as 1.25s, 300ms, 40us or 7ns"});
          },
          ""))
      ->type_name("TIME")
      ->group(kChoosing);
}

void add_sizes(CLI::App& verb, const std::string& option, std::vector<std::uint64_t>& sizes,
               const std::string& help) {
  verb.add_option_function<Words>(
          option,
          [&sizes](const Words& texts) {
            sizes.clear();
            for (const std::string& text : texts) sizes.push_back(*parse_size_bytes(text));
            std::sort(sizes.begin(), sizes.end());
            sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
          },
          help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(more_than_zero(option, parse_size_bytes, "size", "sizes such as 128,4K,1M"))
      ->type_name("SIZE,SIZE");
}

void add_duration(CLI::App& verb, const std::string& option, std::uint64_t& value_ns,
                  const std::string& help) {
  verb.add_option_function<std::string>(
          option, [&value_ns](const std::string& text) { value_ns = *parse_time_ns(text); }, help)
      ->check(more_than_zero(option, parse_time_ns, "length of time",
                             "a time such as 1s, 300ms or 40us"))
      ->type_name("TIME");
}

CLI::Option* add_list(CLI::App& verb, const char* option, Words& values, const char* help,
                      const char* kind) {
  return verb.add_option(option, values, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty(option))
      ->type_name(kind)
      ->group(kChoosing);
}

}  // namespace uctrace::cli
