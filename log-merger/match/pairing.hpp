// The core of the matching: of sends and receives that could be each other's, which pairs are the
// only possible ones. A pure function of what it is given; match.cpp has the definition, and the
// test beside it (pairing_test.cpp) a naive one that says the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "event-log/format/file_layout.hpp"
#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// All that matching looks at of a send or a receive: halves lie close together, where the
// operations of a job do not. Times are ns on the job clock, -1 = not known.
struct HalfMessage {
  ProcessIndex process;
  std::uint16_t lane = 0;
  std::uint64_t handle = 0;  // the endpoint of a send, the worker of a receive
  std::int64_t start_ns = -1, end_ns = -1;
  // What follows says which halves are laid beside each other; the pairing does not look at it.
  bool any_length = false;     // `bytes` need not be what the other end has
  std::int64_t taken_ns = -1;  // of a receive
  std::uint64_t posted_tick = 0, bytes = 0;
  std::uint64_t content = 0;  // of an active message (am_contents.hpp)
  log::Id id = 0;
  UcpIndex op = kNone;  // whose it is
};

// By how much times of two processes may be wrong against each other; nothing: they cannot be
// compared.
using ClockMargin = std::function<std::optional<std::int64_t>(ProcessIndex a, std::int64_t a_ns,
                                                              ProcessIndex b, std::int64_t b_ns)>;

// Both lists are in posting order. Says of each k below the shorter one's length whether the k-th
// receive can have taken nothing but the k-th send, if none of either kind is missing.
//
// Quiescent points cut the lists: the k at which the first k receives had all ended when the k-th
// send (from 0) began, so that these took the first k sends. Between two of them the order is
// certain where one thread posted all on one endpoint, and one thread all on one worker.
std::vector<bool> only_possible_pairs(std::span<const HalfMessage> sends,
                                      std::span<const HalfMessage> receives,
                                      const ClockMargin& margin);

}  // namespace uctrace::merge
