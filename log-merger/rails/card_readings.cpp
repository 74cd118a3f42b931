#include "log-merger/rails/card_readings.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace uctrace::merge {
namespace {

constexpr std::uint64_t k32Bits = UINT32_MAX;
constexpr std::uint64_t kWordBytes = 4;  // port_xmit_data and port_rcv_data count words

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<CardReading> parse_card_reading(const NetworkText& text) {
  std::istringstream words(text.text);
  std::string kind, sent, received, sent_packets, received_packets, more;
  CardReading reading;
  if (!(words >> kind >> reading.device >> sent >> received >> sent_packets >> received_packets) ||
      words >> more) {
    return std::nullopt;
  }
  reading.kind = kind == "net"          ? CardKind::net
                 : kind == "infiniband" ? CardKind::infiniband
                                        : CardKind::none;
  if (reading.kind == CardKind::none) return std::nullopt;
  reading.ns = text.ns;
  reading.sent = number_of(sent);
  reading.received = number_of(received);
  reading.sent_packets = number_of(sent_packets);
  reading.received_packets = number_of(received_packets);
  return reading;
}

CounterRise rise_of(CardKind kind, std::optional<std::uint64_t> from,
                    std::optional<std::uint64_t> to) {
  if (!from || !to) return {std::nullopt, Counted::unread};
  if (*to >= *from) {
    const bool stands = *to == k32Bits || *to == UINT64_MAX;
    return {*to - *from, stands ? Counted::at_least : Counted::exact};
  }
  // Near the end of its range before, and near the beginning now: it wrapped.
  if (*from > UINT64_MAX / 2 && *to < UINT64_MAX / 2) return {*to - *from, Counted::exact};
  // InfiniBand's 32-bit counters stop at their maximum. For other cards, a larger increase may just
  // as well be a restart.
  const std::uint64_t by = *to + (k32Bits - *from) + 1;
  if (kind != CardKind::infiniband && *from <= k32Bits && by <= k32Bits / 2) {
    return {by, Counted::wrapped};
  }
  return {std::nullopt, Counted::restarted};
}

bool may_be_one(const CardReadings& a, const CardReadings& b) {
  if (!a.first || !a.last || !b.first || !b.last) return true;
  using Counter = std::optional<std::uint64_t> CardReading::*;
  for (const Counter counter : {&CardReading::sent, &CardReading::received,
                                &CardReading::sent_packets, &CardReading::received_packets}) {
    const std::optional<std::uint64_t> a_from = (*a.first).*counter, a_to = (*a.last).*counter,
                                       b_from = (*b.first).*counter, b_to = (*b.last).*counter;
    if (!a_from || !a_to || !b_from || !b_to) continue;
    if (*a_from > *a_to || *b_from > *b_to) continue;  // one began anew
    if (*a_from > *b_to || *b_from > *a_to) return false;
  }
  return true;
}

void HostReadings::add(const NetworkText& text) {
  const std::optional<CardReading> reading = parse_card_reading(text);
  if (!reading) {
    if (std::find(remarks_.begin(), remarks_.end(), text.text) == remarks_.end()) {
      remarks_.push_back(text.text);
    }
    return;
  }
  (text.at_end ? ended_ : began_) = true;
  networks_[text.network] = true;
  if (!text.at_end) first_start_ns_ = std::min(first_start_ns_, text.ns);
  CardReadings& card = cards_[reading->device];
  if (text.at_end) {
    if (!card.last || reading->ns > card.last->ns) card.last = reading;
  } else if (!card.first || reading->ns < card.first->ns) {
    card.first = reading;
  }
}

std::map<std::string, NetworkCard> HostReadings::cards() const {
  std::map<std::string, NetworkCard> rows;
  for (const auto& [device, card] : cards_) rows[device] = counted(card);
  return rows;
}

NetworkCard HostReadings::counted(const CardReadings& card) const {
  NetworkCard row;
  const CardReading& any = card.first ? *card.first : *card.last;
  row.kind = any.kind;
  if (card.first) row.t_from_ns = card.first->ns;
  if (card.last) row.t_to_ns = card.last->ns;
  if (!is_one_network()) {
    row.counted = Counted::several;
    return row;
  }
  if (!card.last) {
    row.counted = ended_ ? Counted::gone : Counted::no_end;
    return row;
  }
  // A card that was missing at the start began to count when it appeared.
  const bool came = !card.first;
  // Or the list of cards was incomplete; then there is a remark.
  if (came && !remarks_.empty()) {
    row.counted = Counted::unread;
    return row;
  }
  const CardReading zero{any.kind, {}, -1, 0, 0, 0, 0};
  const CardReading &from = came ? zero : *card.first, &to = *card.last;
  const CounterRise sent = rise_of(any.kind, from.sent, to.sent),
                    received = rise_of(any.kind, from.received, to.received);
  row.counted = std::max(sent.counted, received.counted);
  if (row.counted == Counted::unread && !to.sent && from.sent) row.counted = Counted::gone;
  if (came) row.counted = std::max(row.counted, Counted::partly);
  if (!is_counted(row.counted)) return row;
  const std::uint64_t unit = any.kind == CardKind::infiniband ? kWordBytes : 1;
  row.counted_sent_bytes = *sent.by * unit;
  row.counted_received_bytes = *received.by * unit;
  row.counted_sent_packets = rise_of(any.kind, from.sent_packets, to.sent_packets).by.value_or(0);
  row.counted_received_packets =
      rise_of(any.kind, from.received_packets, to.received_packets).by.value_or(0);
  return row;
}

std::map<Host, HostReadings> host_readings(const Job& job, const Hosts& hosts) {
  std::map<Host, HostReadings> readings;
  for (const ProcessIndex process : job.logs.indexes()) readings[hosts.of(process)];
  each_network_text(job, [&](ProcessIndex process, const NetworkText& text) {
    readings[hosts.of(process)].add(text);
  });
  return readings;
}

}  // namespace uctrace::merge
