#include "script.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scripted.h"

namespace scripted {

namespace {

constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::kCount);
constexpr std::array<const char*, kOperations> kNames{
#define OPERATION(name) #name,
#include "operations.def"
#undef OPERATION
};

struct Rule {
  std::optional<Operation> operation;  // none: any but connect
  unsigned every;
  Verdict verdict;
};

struct Script {
  std::mutex lock;
  std::vector<Rule> rules;
  std::array<unsigned, kOperations> calls{};
};

[[noreturn]] void refuse(std::string_view rule, const char* why) {
  std::fprintf(stderr, "scripted transport: the rule '%.*s' %s\n", static_cast<int>(rule.size()),
               rule.data(), why);
  std::abort();
}

// Takes what follows `mark` off the end of `text`.
std::optional<unsigned> number_after(std::string_view& text, char mark, std::string_view rule) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(at + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc{} || end != digits.end() || number == 0) {
    refuse(rule, "has a number that is none");
  }
  text = text.substr(0, at);
  return number;
}

std::optional<Operation> operation_named(std::string_view name, std::string_view rule) {
  if (name == "*") return std::nullopt;
  for (std::size_t i = 0; i < kOperations; ++i) {
    if (name == kNames[i]) return static_cast<Operation>(i);
  }
  refuse(rule, "names no operation");
}

Verdict verdict_of(std::string_view action, std::optional<unsigned> n, std::string_view rule) {
  if (action == "ok") return {};
  if (action == "no_resource") return {.status = UCS_ERR_NO_RESOURCE, .progress = n.value_or(1)};
  if (action == "late") return {.progress = n.value_or(1)};
  if (action == "thread") return {.progress = n.value_or(1), .on_thread = true};
  if (action == "error") return {.status = UCS_ERR_IO_ERROR, .progress = n.value_or(0)};
  if (action == "fail") {
    return {.status = UCS_ERR_CONNECTION_RESET, .progress = n.value_or(1), .fails_endpoint = true};
  }
  refuse(rule, "has an action that is none");
}

Rule parse(std::string_view text) {
  const std::string_view rule = text;
  const unsigned every = number_after(text, '/', rule).value_or(1);
  const std::optional<unsigned> n = number_after(text, '=', rule);
  const std::size_t colon = text.find(':');
  if (colon == text.npos) refuse(rule, "has no ':'");
  return {operation_named(text.substr(0, colon), rule), every,
          verdict_of(text.substr(colon + 1), n, rule)};
}

void set_rules(Script& script, std::string_view text) {
  script.rules.clear();
  script.calls.fill(0);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) script.rules.push_back(parse(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Script& script() {
  static Script& kept = *[] {
    auto* made = new Script;  // never destroyed: completions may come at the very end
    const char* text = std::getenv("SCRIPTED_TRANSPORT");
    set_rules(*made, text != nullptr ? text : "");
    return made;
  }();
  return kept;
}

}  // namespace

const char* name_of(Operation operation) { return kNames[static_cast<std::size_t>(operation)]; }

Verdict judge(Operation operation) {
  Script& all = script();
  const std::lock_guard guard(all.lock);
  const unsigned call = ++all.calls[static_cast<std::size_t>(operation)];
  for (const Rule& rule : all.rules) {
    const bool means_it =
        rule.operation ? *rule.operation == operation : operation != Operation::connect;
    if (means_it && call % rule.every == 0) {
      return rule.verdict;
    }
  }
  return {};
}

}  // namespace scripted

extern "C" __attribute__((visibility("default"))) void scripted_transport_script(
    const char* rules) {
  scripted::Script& all = scripted::script();
  const std::lock_guard guard(all.lock);
  scripted::set_rules(all, rules);
}
