// The path of a message's data from memory to memory and over network cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

// A place on the path: memory of a host or a GPU, or a network card.
struct Stop {
  enum class Kind : std::uint8_t { memory, network_card };
  Kind kind = Kind::memory;
  MemoryPlace place;        // of memory
  TextId device = kNoText;  // UCT's name of a card; kNoText = not known
  TextId host = kNoText;    // kNoText = not known
  auto operator<=>(const Stop&) const = default;
};

struct Leg {
  Stop from, to;
  std::size_t hop = 0;  // the hop of the path
};

// `path`: the hops of the message. In path order, for hops that carried or copied data. A transfer
// over a network has three legs: to the source's card, to the destination's card, and out of it.
std::vector<Leg> legs_of(const Run& run, const Message& message, std::span<const Hop> path);

// "GPU 0000:10:00.0 of node1 -> eth0 of node1 -> eth0 of node2 -> host memory of node2"; parts that
// are not connected are separated. Empty: nothing moved.
std::string legs_text(const Run& run, const Message& message, std::span<const Hop> path);

}  // namespace uctrace
