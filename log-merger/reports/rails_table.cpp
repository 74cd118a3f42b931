#include "log-merger/reports/rails_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "log-merger/summaries/info_members.hpp"

namespace uctrace {
namespace {

Cell counted_cell(const NetworkCard& card, std::uint64_t count) {
  return is_counted(card.counted) ? Cell{count} : Cell{};
}

// Counted but not recorded; not known if the port counted less.
Cell rest_cell(const NetworkCard& card, std::uint64_t counted, std::uint64_t recorded) {
  return is_counted(card.counted) && counted >= recorded ? Cell{counted - recorded} : Cell{};
}

std::uint64_t carried(const NetworkCard& card) { return card.sent_bytes + card.received_bytes; }

// Of the cards of a host that UCX opened.
struct Share {
  std::uint64_t bytes = 0;  // carried by all of them
  std::size_t cards = 0;
};

class Shares {
 public:
  explicit Shares(const std::vector<NetworkCard>& cards) {
    for (const NetworkCard& card : cards) {
      if (!card.opened) continue;
      Share& share = by_host_[card.host];
      share.bytes += carried(card);
      ++share.cards;
    }
  }

  Cell percent(const NetworkCard& card) const {
    const Share share = of(card);
    return share.bytes == 0 ? Cell{} : Cell{100.0 * part(card, share)};
  }

  // How much more or less than with an even distribution: 0 = even, -100 = nothing.
  Cell from_even(const NetworkCard& card) const {
    const Share share = of(card);
    if (share.bytes == 0) return {};
    return Cell{100.0 * (part(card, share) * static_cast<double>(share.cards) - 1.0)};
  }

 private:
  Share of(const NetworkCard& card) const {
    const auto found = by_host_.find(card.host);
    return !card.opened || found == by_host_.end() ? Share{} : found->second;
  }
  static double part(const NetworkCard& card, const Share& share) {
    return static_cast<double>(carried(card)) / static_cast<double>(share.bytes);
  }

  std::map<std::string, Share> by_host_;
};

std::string words_of(Counted counted) {
  switch (counted) {
    case Counted::exact:
      return "";
    case Counted::wrapped:
      return "a counter of 32 bits passed its end, once as it seems";
    case Counted::at_least:
      return "a counter stands at its end: the port carried at least this";
    case Counted::partly:
      return "the card came while the job ran: counted from then on";
    case Counted::restarted:
      return "a counter is less than at the start: it was cleared, or the card or its driver "
             "started again";
    case Counted::gone:
      return "it was gone at the end, or its counters were";
    case Counted::no_end:
      return "nobody read its counters at the end";
    case Counted::several:
      return "processes with the name of this host are in several networks";
    case Counted::unread:
      return "its counters were not read";
  }
  return "";
}

}  // namespace

std::vector<NetworkCard> network_cards_of(const Run& run) {
  return network_cards_of(
      summaries::member(summaries::member(summaries::parsed_info(run), "network"), "cards"));
}

bool leaves_hosts(const std::vector<NetworkCard>& cards) {
  return std::any_of(cards.begin(), cards.end(), [](const auto& card) {
    return card.sent_operations != 0 || card.received_operations != 0 ||
           card.unknown_operations != 0;
  });
}

Table rails_table(const std::vector<NetworkCard>& cards) {
  Table table{.key = "rails",
              .title = "",
              .columns = {{"host", "host"},
                          {"card", "card"},
                          {"kind", "kind"},
                          {"opened", "opened", Unit::count},
                          {"counted", "counted"},
                          {"counted_sent_bytes", "port sent", Unit::bytes},
                          {"sent_bytes", "recorded", Unit::bytes},
                          {"unattributed_sent_bytes", "unattributed", Unit::bytes},
                          {"counted_received_bytes", "port received", Unit::bytes},
                          {"received_bytes", "recorded", Unit::bytes},
                          {"unattributed_received_bytes", "unattributed", Unit::bytes},
                          {"counted_sent_packets", "packets sent", Unit::count},
                          {"counted_received_packets", "packets received", Unit::count},
                          {"sent_operations", "operations out", Unit::count},
                          {"sent_payload_bytes", "payload out", Unit::bytes},
                          {"received_operations", "operations in", Unit::count},
                          {"received_payload_bytes", "payload in", Unit::bytes},
                          {"inside_operations", "operations inside", Unit::count},
                          {"inside_bytes", "inside", Unit::bytes},
                          {"unknown_operations", "operations, peer unknown", Unit::count},
                          {"unknown_bytes", "peer unknown", Unit::bytes},
                          {"share_percent", "share", Unit::percent},
                          {"from_even_percent", "from even", Unit::percent}},
              .rows = {}};
  const Shares shares(cards);
  for (const NetworkCard& card : cards) {
    table.rows.push_back({card.host,
                          card.device,
                          std::string(name_of(card.kind)),
                          std::uint64_t{card.opened},
                          std::string(name_of(card.counted)),
                          counted_cell(card, card.counted_sent_bytes),
                          card.sent_bytes,
                          rest_cell(card, card.counted_sent_bytes, card.sent_bytes),
                          counted_cell(card, card.counted_received_bytes),
                          card.received_bytes,
                          rest_cell(card, card.counted_received_bytes, card.received_bytes),
                          counted_cell(card, card.counted_sent_packets),
                          counted_cell(card, card.counted_received_packets),
                          card.sent_operations,
                          card.sent_payload_bytes,
                          card.received_operations,
                          card.received_payload_bytes,
                          card.inside_operations,
                          card.inside_bytes,
                          card.unknown_operations,
                          card.unknown_bytes,
                          shares.percent(card),
                          shares.from_even(card)});
  }
  return table;
}

Table rails_text(const std::vector<NetworkCard>& cards) {
  Table table{.key = "rails",
              .title = "Network cards: what the port counted, recorded of it, and the rest",
              .columns = {{"host", "host"},
                          {"card", "card"},
                          {"counted_sent_bytes", "port sent", Unit::bytes},
                          {"sent_bytes", "recorded", Unit::bytes},
                          {"unattributed_sent_bytes", "unattributed", Unit::bytes},
                          {"counted_received_bytes", "port received", Unit::bytes},
                          {"received_bytes", "recorded", Unit::bytes},
                          {"unattributed_received_bytes", "unattributed", Unit::bytes},
                          {"share_percent", "share", Unit::percent},
                          {"from_even_percent", "from even", Unit::percent}},
              .rows = {}};
  const Shares shares(cards);
  for (const NetworkCard& card : cards) {
    if (!card.opened && carried(card) == 0 && card.counted_sent_bytes == 0 &&
        card.counted_received_bytes == 0) {
      continue;
    }
    table.rows.push_back({card.host, card.device, counted_cell(card, card.counted_sent_bytes),
                          card.sent_bytes,
                          rest_cell(card, card.counted_sent_bytes, card.sent_bytes),
                          counted_cell(card, card.counted_received_bytes), card.received_bytes,
                          rest_cell(card, card.counted_received_bytes, card.received_bytes),
                          shares.percent(card), shares.from_even(card)});
  }
  return table;
}

std::vector<std::string> rail_remarks(const std::vector<NetworkCard>& cards) {
  std::vector<std::string> remarks;
  for (const NetworkCard& card : cards) {
    const std::string name = fmt::format("{} of {}", card.device, card.host);
    const bool matters = card.opened || carried(card) != 0 || is_counted(card.counted);
    if (matters && card.counted != Counted::exact) {
      remarks.push_back(fmt::format("{}: {}", name, words_of(card.counted)));
    }
    if (card.inside_bytes != 0) {
      remarks.push_back(fmt::format("{}: {} more went between processes of the host, past the port",
                                    name, format_bytes(card.inside_bytes)));
    }
    if (card.unknown_bytes != 0) {
      remarks.push_back(fmt::format(
          "{}: {} more went to peers that are not known: inside the host, or to another one", name,
          format_bytes(card.unknown_bytes)));
    }
    if (!is_counted(card.counted)) continue;
    const auto beyond = [](std::uint64_t recorded, std::uint64_t counted) {
      return recorded > counted ? recorded - counted : 0;
    };
    const std::uint64_t more = beyond(card.sent_bytes, card.counted_sent_bytes) +
                               beyond(card.received_bytes, card.counted_received_bytes);
    if (more != 0) {
      remarks.push_back(fmt::format(
          "{}: {} more were recorded than the port counted: it was read late, or another carries "
          "for it",
          name, format_bytes(more)));
    }
  }
  return remarks;
}

}  // namespace uctrace
