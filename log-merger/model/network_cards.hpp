// Network cards of the hosts of a run: what the kernel says that their ports carried, and what of
// it was recorded. The run keeps them in its facts (`network.cards` of Run::info_json).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace uctrace {

// Whose counters were read. `none`: UCX named a card of which the kernel has none.
enum class CardKind : std::uint8_t { none, net, infiniband };
const char* name_of(CardKind);

// How far it is known what a port carried while the job was recorded. The later the worse.
enum class Counted : std::uint8_t {
  exact,      // read at the start and at the end
  wrapped,    // a counter of 32 bits passed its end, once as it seems
  at_least,   // a counter stands at its end: those of InfiniBand stop there
  partly,     // the card came while the job ran: from then on
  restarted,  // a counter is less than before: the driver was loaded again
  gone,       // the card was gone at the end
  no_end,     // nobody read at the end
  several,    // processes with the name of this host are in several networks
  unread,     // nobody read
};
const char* name_of(Counted);

// The counts are there.
constexpr bool is_counted(Counted counted) { return counted <= Counted::partly; }

// A card, or a port of one: all that could be read, and all that UCX used.
struct NetworkCard {
  std::string host;
  std::string device;  // as the kernel and UCT name it: mlx5_0:1, eth0
  CardKind kind = CardKind::none;
  Counted counted = Counted::unread;
  bool opened = false;                        // by UCX in this job
  std::int64_t t_from_ns = -1, t_to_ns = -1;  // when the counters were read, -1 = they were not
  // What the port counted, 0 where not is_counted(). Bytes with the headers of lower layers.
  std::uint64_t counted_sent_bytes = 0, counted_received_bytes = 0;
  std::uint64_t counted_sent_packets = 0, counted_received_packets = 0;
  // Recorded, to and from other hosts. Bytes: payload and headers that UCT was handed.
  std::uint64_t sent_operations = 0, sent_bytes = 0, sent_payload_bytes = 0;
  std::uint64_t received_operations = 0, received_bytes = 0, received_payload_bytes = 0;
  // Between processes of the host: the kernel and most cards turn these round before the port.
  std::uint64_t inside_operations = 0, inside_bytes = 0;
  // With a peer that is not known: inside, or to another host.
  std::uint64_t unknown_operations = 0, unknown_bytes = 0;

  bool operator==(const NetworkCard&) const = default;
};

nlohmann::ordered_json network_cards_json(const std::vector<NetworkCard>& cards);
// The same read back; what is no list of cards has none.
std::vector<NetworkCard> network_cards_of(const nlohmann::ordered_json& list);

}  // namespace uctrace
