#include "log-merger/audit/describe_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log-merger/rails/card_readings.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

bool says(const HostReadings& host, const char* remark) {
  const auto& all = host.remarks();
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& text) { return starts_with(text, remark); });
}

// Empty: they were read at start and end.
std::string why_unread(const HostReadings& host) {
  if (says(host, "unread sandbox")) {
    return "not read at the end: the process that reads had put itself into a sandbox";
  }
  if (says(host, "unread late")) return "the kernel did not answer within a second";
  if (!host.any()) {
    return "not read: recorded without a helper, or the first process of the host was not recorded";
  }
  if (!host.has_end()) return "not read at the end: the process that reads was killed, or runs";
  if (!host.is_one_network()) return "processes with the name of this host are in several networks";
  return "";
}

std::string in_words(const std::string& remark) {
  if (starts_with(remark, "more cards ")) {
    return fmt::format("{} more cards were left out", remark.substr(sizeof "more cards " - 1));
  }
  if (starts_with(remark, "unlisted ")) {
    const std::string rest = remark.substr(sizeof "unlisted " - 1);
    const std::size_t space = rest.find(' ');
    return fmt::format("class/{} could not be listed (errno {})", rest.substr(0, space),
                       space == std::string::npos ? "?" : rest.substr(space + 1));
  }
  return "";
}

}  // namespace

Json network_json(const Job& job, const Found& found) {
  Json hosts = Json::array();
  const Hosts names(job);
  for (const auto& [key, host] : host_readings(job, names)) {
    const std::string why = why_unread(host);
    Json remarks = Json::array();
    for (const std::string& remark : host.remarks()) {
      if (std::string words = in_words(remark); !words.empty()) remarks.push_back(words);
    }
    hosts.push_back({{"host", names.label(key)},
                     {"read", why.empty()},
                     {"why", why.empty() ? Json(nullptr) : Json(why)},
                     {"remarks", remarks}});
  }
  return {{"hosts", hosts}, {"cards", network_cards_json(found.network_cards)}};
}

}  // namespace uctrace::merge
