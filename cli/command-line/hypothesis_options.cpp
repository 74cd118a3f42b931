#include "cli/command-line/hypothesis_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/command-line/size_option.hpp"
#include "cli/command-line/time_option.hpp"
#include "event-log/reader/error.hpp"

namespace uctrace::cli {

namespace {

constexpr const char* kFasterExample = "give it as in MPI_Send=2, compute=1.5 or compute@0,3=2";
constexpr const char* kNetworkExample = "give it as in tcp=latency:2us,bandwidth:10G";

[[noreturn]] void refuse(const char* option, const std::string& text, std::string why,
                         const char* to_do) {
  throw Error({.what = fmt::format("{} {}", option, text), .why = std::move(why), .to_do = to_do});
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool has_empty(const std::vector<std::string>& parts) {
  return std::find(parts.begin(), parts.end(), "") != parts.end();
}

std::optional<double> parse_factor(std::string_view text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(factor)) {
    return std::nullopt;
  }
  return factor;
}

}  // namespace

Faster parse_faster(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos) refuse("--faster", text, "it has no factor", kFasterExample);
  Faster faster;
  faster.asked = text;
  faster.what = text.substr(0, equals);
  const std::string number = text.substr(equals + 1);
  const auto factor = parse_factor(number);
  if (!factor) {
    refuse("--faster", text, fmt::format("'{}' is no number", number), kFasterExample);
  }
  if (*factor < kLeastFactor || *factor > kGreatestFactor) {
    refuse("--faster", text,
           fmt::format("'{}' is not between {} and {}", number, kLeastFactor, kGreatestFactor),
           "give a factor such as 2: half the time");
  }
  faster.factor = *factor;
  // Names of places in the source may also contain an @.
  const std::size_t at = faster.what.rfind('@');
  if (at != std::string::npos) {
    faster.ranks = split(std::string_view(faster.what).substr(at + 1));
    if (has_empty(faster.ranks)) {
      refuse("--faster", text, "a rank is missing after '@'", kFasterExample);
    }
    faster.what.resize(at);
  }
  if (faster.what.empty()) {
    refuse("--faster", text, "it does not say what is faster", kFasterExample);
  }
  return faster;
}

void parse_balance(const std::string& text, Hypotheses& hypotheses) {
  if (hypotheses.balance != Balance::none) {
    refuse("--balance", text, "it was given before", "give it once, with all ranks: --balance 0,3");
  }
  if (text == "run" || text == "phases") {
    hypotheses.balance = text == "run" ? Balance::run : Balance::phases;
    hypotheses.balanced_ranks.clear();
    return;
  }
  std::vector<std::string> ranks = split(text);
  if (has_empty(ranks)) {
    refuse("--balance", text, "a rank is missing", "give run, phases, or ranks such as 0,3");
  }
  hypotheses.balance = Balance::ranks;
  hypotheses.balanced_ranks = std::move(ranks);
}

NetworkChange parse_network(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    refuse("--network", text, "it does not say which transport", kNetworkExample);
  }
  NetworkChange change;
  change.transport = text.substr(0, equals);
  bool has_latency = false, has_bandwidth = false;
  for (const std::string& part : split(std::string_view(text).substr(equals + 1))) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const std::string name = part.substr(0, colon);
    const std::string value = part.substr(std::min(colon + 1, part.size()));
    if (name == "latency") {
      const auto ns = parse_time_ns(value);
      if (!ns || *ns > kGreatestLatencyNs) {
        refuse("--network", text, fmt::format("'{}' is no time below 1000s", value),
               kNetworkExample);
      }
      change.latency_ns = *ns;
      has_latency = true;
    } else if (name == "bandwidth") {
      const auto bytes = parse_size_bytes(value);
      if (bytes.value_or(0) == 0) {
        refuse("--network", text, fmt::format("'{}' is no number of bytes a second", value),
               kNetworkExample);
      }
      change.bytes_per_s = *bytes;
      has_bandwidth = true;
    } else {
      refuse("--network", text, fmt::format("'{}' is neither latency nor bandwidth", name),
             kNetworkExample);
    }
  }
  if (!has_latency || !has_bandwidth) {
    refuse("--network", text, fmt::format("{} is missing", has_latency ? "bandwidth" : "latency"),
           kNetworkExample);
  }
  return change;
}

}  // namespace uctrace::cli
