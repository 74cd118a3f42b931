// Network cards of a run's hosts: the kernel's counts of their ports, and the recorded part. The
// run keeps them in its facts (`network.cards` of Run::info_json).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace uctrace {

// The source of the counters. `none`: UCX named a card without kernel counters.
enum class CardKind : std::uint8_t { none, net, infiniband };
const char* name_of(CardKind);

// How well the traffic of a port during the recording is known. Later values are worse.
enum class Counted : std::uint8_t {
  exact,      // read at the start and at the end
  wrapped,    // a 32-bit counter wrapped, apparently once
  at_least,   // a counter is at its maximum: InfiniBand's stop there
  partly,     // the card appeared during the job: from then on
  restarted,  // a counter decreased: the driver was reloaded
  gone,       // the card was gone at the end
  no_end,     // nobody read at the end
  several,    // processes with this host name are in several network namespaces
  unread,     // nobody read
};
const char* name_of(Counted);

// The counts are there.
constexpr bool is_counted(Counted counted) { return counted <= Counted::partly; }

// A card or port: all that could be read, and all that UCX used.
struct NetworkCard {
  std::string host;
  std::string device;  // as the kernel and UCT name it: mlx5_0:1, eth0
  CardKind kind = CardKind::none;
  Counted counted = Counted::unread;
  bool opened = false;                        // by UCX in this job
  std::int64_t t_from_ns = -1, t_to_ns = -1;  // when the counters were read, -1 = they were not
  // The port's counts, 0 if not is_counted(). Bytes include the headers of lower layers.
  std::uint64_t counted_sent_bytes = 0, counted_received_bytes = 0;
  std::uint64_t counted_sent_packets = 0, counted_received_packets = 0;
  // Recorded traffic to and from other hosts. Bytes: payload and headers passed to UCT.
  std::uint64_t sent_operations = 0, sent_bytes = 0, sent_payload_bytes = 0;
  std::uint64_t received_operations = 0, received_bytes = 0, received_payload_bytes = 0;
  // Between processes of the host: the kernel and most cards loop these back before the port.
  std::uint64_t inside_operations = 0, inside_bytes = 0;
  // With an unknown peer: inside, or to another host.
  std::uint64_t unknown_operations = 0, unknown_bytes = 0;

  bool operator==(const NetworkCard&) const = default;
};

nlohmann::ordered_json network_cards_json(const std::vector<NetworkCard>& cards);
// The same read back; what is no list of cards has none.
std::vector<NetworkCard> network_cards_of(const nlohmann::ordered_json& list);

}  // namespace uctrace
