// Requests: which call made each, and how the time of a call that waits for several is divided
// among their communicators.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/index.hpp"

namespace uctrace::merge {

struct Job;

// The requests that a call was given, where there may be several.
struct CallRequests {
  std::vector<std::uint64_t> handles;
  std::vector<std::uint32_t> ended;  // positions among them
  bool ended_known = false;          // else all, of a call that waits for all
};

// Part of the time of a call.
struct TimeShare {
  Index call = kNone;
  Index instance = kNone;  // into Job::comms
  std::uint32_t requests = 0;
  std::int64_t ns = 0;
};

// Gives calls that start, cancel or free requests, or receive a probed message, the communicator of
// what they are given, if that is one; tells which calls made what is started, and how much that is.
// Before link_mpi().
void name_starts(Job& job);

// The same for calls that wait or test; else Job::shares. After link_mpi(), whose operations tell
// when each request was complete.
void share_waits(Job& job);

}  // namespace uctrace::merge
