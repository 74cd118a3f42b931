// The way of a message's data from memory to memory, and over which network cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

// Where data is on its way: memory of a host or a GPU, or a network card.
struct Stop {
  enum class Kind : std::uint8_t { memory, network_card };
  Kind kind = Kind::memory;
  MemoryPlace place;        // of memory
  TextId device = kNoText;  // of a card, as UCT names it; kNoText = not known
  TextId host = kNoText;    // kNoText = not known
  auto operator<=>(const Stop&) const = default;
};

struct Leg {
  Stop from, to;
  std::size_t hop = 0;  // of the path: what moved how much there
};

// `path`: the hops of the message. In the order of the way, of what carried data or copied it. What
// goes over a network has three legs: to the card of the source, from there to that of the
// destination, and out of it.
std::vector<Leg> legs_of(const Run& run, const Message& message, std::span<const Hop> path);

// "GPU 0000:10:00.0 of node1 -> eth0 of node1 -> eth0 of node2 -> host memory of node2"; parts that
// do not follow each other stand apart. Empty: nothing moved.
std::string legs_text(const Run& run, const Message& message, std::span<const Hop> path);

}  // namespace uctrace
