// The processes' readings of their hosts' network cards, and the traffic of the ports between the
// first and the last reading. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/model/network_cards.hpp"
#include "log-merger/rails/hosts.hpp"

namespace uctrace::merge {

// A process's reading of a network card of its host, or a remark on the reading.
struct NetworkText {
  bool at_end = false;
  std::uint64_t network = 0;  // number of the process's network namespace
  std::int64_t ns = -1;
  std::string text;  // docs/log-format.md has its words
};

// Counters of a card at one time: bytes and packets sent and received.
struct CardReading {
  CardKind kind = CardKind::none;
  std::string device;
  std::int64_t ns = -1;
  std::optional<std::uint64_t> sent, received, sent_packets, received_packets;  // as in the files
};

// The first and the last reading of a card.
struct CardReadings {
  std::optional<CardReading> first, last;
};
// Whether two readings from about the same time may be of one card: counters only rise, so readings
// of one card overlap.
bool may_be_one(const CardReadings& a, const CardReadings& b);

// nullopt: it is a remark on the reading, or damaged.
std::optional<CardReading> parse_card_reading(const NetworkText& text);

// The increase of one counter; nullopt: not known.
struct CounterRise {
  std::optional<std::uint64_t> by;
  Counted counted = Counted::exact;
};
CounterRise rise_of(CardKind kind, std::optional<std::uint64_t> from,
                    std::optional<std::uint64_t> to);

// What all processes of a host read.
class HostReadings {
 public:
  void add(const NetworkText& text);

  bool any() const { return began_; }
  bool has_end() const { return ended_; }
  bool is_one_network() const { return networks_.size() <= 1; }
  // Remarks of the reading processes: "unread sandbox", "more cards 3". Each once.
  const std::vector<std::string>& remarks() const { return remarks_; }
  // The cards with the traffic of their ports; host and recorded traffic are not set. `device` of
  // the row is not set either: it is the key.
  std::map<std::string, NetworkCard> cards() const;
  // The readings by name of card.
  const std::map<std::string, CardReadings>& readings() const { return cards_; }

 private:
  NetworkCard counted(const CardReadings& card) const;

  bool began_ = false, ended_ = false;
  std::int64_t first_start_ns_ = INT64_MAX;
  std::map<std::uint64_t, bool> networks_;
  std::map<std::string, CardReadings> cards_;
  std::vector<std::string> remarks_;
};

// The readings of each host's processes; also for a host without any.
std::map<Host, HostReadings> host_readings(const Job& job, const Hosts& hosts);

// Calls visit(process, text) for each text on network cards in the logs.
template <typename Visit>
void each_network_text(const Job& job, Visit visit) {
  for (const ProcessIndex process : job.logs.indexes()) {
    const ProcessLog& log = job.logs[process];
    log.file.for_each_record(
        log::Stream::definitions, [&](std::uint16_t, const log::TextView& view) {
          if (view.kind() != log::TextKind::network_card) return;
          visit(process,
                NetworkText{(view.r.id & 1) != 0, view.r.id >> 1, log.clock.job_ns(view.r.tick),
                            plain_text(std::string(view.text))});
        });
  }
}

}  // namespace uctrace::merge
