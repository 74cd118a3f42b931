#include "log-merger/model/network_cards.hpp"

#include <cstddef>
#include <iterator>
#include <string_view>
#include <tuple>

namespace uctrace {
namespace {

using Json = nlohmann::ordered_json;

struct CardNumber {
  const char* key;
  std::uint64_t NetworkCard::*member;
};
constexpr CardNumber kNumbers[] = {
    {"counted_sent_bytes", &NetworkCard::counted_sent_bytes},
    {"counted_received_bytes", &NetworkCard::counted_received_bytes},
    {"counted_sent_packets", &NetworkCard::counted_sent_packets},
    {"counted_received_packets", &NetworkCard::counted_received_packets},
    {"sent_operations", &NetworkCard::sent_operations},
    {"sent_bytes", &NetworkCard::sent_bytes},
    {"sent_payload_bytes", &NetworkCard::sent_payload_bytes},
    {"received_operations", &NetworkCard::received_operations},
    {"received_bytes", &NetworkCard::received_bytes},
    {"received_payload_bytes", &NetworkCard::received_payload_bytes},
    {"inside_operations", &NetworkCard::inside_operations},
    {"inside_bytes", &NetworkCard::inside_bytes},
    {"unknown_operations", &NetworkCard::unknown_operations},
    {"unknown_bytes", &NetworkCard::unknown_bytes},
};

template <typename Enum>
Enum enumerator(std::string_view name, Enum none) {
  for (std::uint8_t i = 0;; ++i) {
    const std::string_view known = name_of(static_cast<Enum>(i));
    if (known == "?") return none;
    if (known == name) return static_cast<Enum>(i);
  }
}

std::string text_at(const Json& card, const char* key) {
  const auto found = card.find(key);
  return found != card.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t time_at(const Json& card, const char* key) {
  const auto found = card.find(key);
  return found != card.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

Json time_json(std::int64_t ns) { return ns < 0 ? Json(nullptr) : Json(ns); }

}  // namespace

const char* name_of(CardKind kind) {
  static constexpr const char* kNames[] = {"none", "net", "infiniband"};
  const auto i = static_cast<std::size_t>(kind);
  return i < std::size(kNames) ? kNames[i] : "?";
}

const char* name_of(Counted counted) {
  static constexpr const char* kNames[] = {"exact", "wrapped", "at_least", "partly", "restarted",
                                           "gone",  "no_end",  "several",  "unread"};
  const auto i = static_cast<std::size_t>(counted);
  return i < std::size(kNames) ? kNames[i] : "?";
}

Json network_cards_json(const std::vector<NetworkCard>& cards) {
  Json list = Json::array();
  for (const NetworkCard& card : cards) {
    Json row = {{"host", card.host},
                {"card", card.device},
                {"kind", name_of(card.kind)},
                {"counted", name_of(card.counted)},
                {"opened", card.opened},
                {"from_ns", time_json(card.t_from_ns)},
                {"to_ns", time_json(card.t_to_ns)}};
    for (const CardNumber& number : kNumbers) row[number.key] = card.*number.member;
    list.push_back(std::move(row));
  }
  return list;
}

std::vector<NetworkCard> network_cards_of(const Json& list) {
  std::vector<NetworkCard> cards;
  if (!list.is_array()) return cards;
  for (const Json& row : list) {
    if (!row.is_object()) continue;
    NetworkCard& card = cards.emplace_back();
    card.host = text_at(row, "host");
    card.device = text_at(row, "card");
    card.kind = enumerator(text_at(row, "kind"), CardKind::none);
    card.counted = enumerator(text_at(row, "counted"), Counted::unread);
    const auto opened = row.find("opened");
    card.opened = opened != row.end() && *opened == true;
    card.t_from_ns = time_at(row, "from_ns");
    card.t_to_ns = time_at(row, "to_ns");
    for (const CardNumber& number : kNumbers) {
      const auto found = row.find(number.key);
      if (found != row.end() && found->is_number_unsigned()) {
        card.*number.member = found->get<std::uint64_t>();
      }
    }
  }
  return cards;
}

}  // namespace uctrace
