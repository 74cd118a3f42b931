// The core of the matching: which pairs of possible partners are the only possible ones. A pure
// function; match.cpp has the definition, and the test beside it (pairing_test.cpp) a naive oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "event-log/format/file_layout.hpp"
#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// The fields of a send or receive that matching needs: compact in memory, unlike the operations of
// a job. Times are ns on the job clock, -1 = not known.
struct HalfMessage {
  ProcessIndex process;
  std::uint16_t lane = 0;
  std::uint64_t handle = 0;  // the endpoint of a send, the worker of a receive
  std::int64_t start_ns = -1, end_ns = -1;
  // The following fields choose which halves are paired; the pairing itself ignores them.
  bool any_length = false;     // `bytes` may differ from the other end's
  std::int64_t taken_ns = -1;  // of a receive
  std::uint64_t posted_tick = 0, bytes = 0;
  std::uint64_t content = 0;  // of an active message (am_contents.hpp)
  log::Id id = 0;
  UcpIndex op = kNone;  // its operation
};

// The relative clock error of two processes; nothing: their times cannot be compared.
using ClockMargin = std::function<std::optional<std::int64_t>(ProcessIndex a, std::int64_t a_ns,
                                                              ProcessIndex b, std::int64_t b_ns)>;

// Both lists are in posting order. Returns for each k below the shorter length whether the k-th
// receive can only have taken the k-th send, if none of either kind is missing.
//
// Quiescent points cut the lists: the k at which the first k receives had all ended when the k-th
// send (from 0) began, so that these took the first k sends. Between two of them the order is
// certain if one thread posted all sends on one endpoint, and one thread all receives on one
// worker.
std::vector<bool> only_possible_pairs(std::span<const HalfMessage> sends,
                                      std::span<const HalfMessage> receives,
                                      const ClockMargin& margin);

}  // namespace uctrace::merge
