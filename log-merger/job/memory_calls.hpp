// The registration calls of a process, and the results about each. Private to log-merger/.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "event-log/format/device_definitions.hpp"
#include "event-log/format/events.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/kinds.hpp"

namespace uctrace::merge {

struct MemoryCall {
  std::uint16_t lane = 0;
  log::MemoryFunction function = log::MemoryFunction::none;
  log::Origin origin_kind = log::Origin::none;
  log::Route route = log::Route::none;
  std::int32_t status = 0;
  log::MemoryId memory = log::kMemoryNotAsked;
  log::Id origin = 0;
  std::uint64_t start_tick = 0, end_tick = 0;
  std::uint64_t domain = 0, key = 0, address = 0, bytes = 0;
  // results
  TextId domain_name = kNoText;
  UcpIndex serves;
  Link link = Link::unattributed;
  bool outermost = true;
  bool repeats = false;    // its caller does the same, through this call
  bool first_use = false;  // of a registration
  std::uint64_t until_tick = UINT64_MAX;

  log::MemoryAction action() const { return log::action_of(function); }
  bool succeeded() const { return status == 0; }
  // Whether a deregistration must end it.
  bool begins() const {
    return succeeded() && !repeats &&
           (action() == log::MemoryAction::registration ||
            action() == log::MemoryAction::attachment);
  }
  bool ends() const {
    return succeeded() && !repeats && action() == log::MemoryAction::deregistration;
  }
};

// A memory domain, or a component, named by its handle from `tick` on.
struct DomainName {
  std::uint64_t tick = 0;
  TextId name = kNoText;
};

struct MemoryCalls {
  std::vector<MemoryCall> calls;
  std::unordered_map<std::uint64_t, std::vector<DomainName>> domains;  // by handle
  std::vector<log::KernelAccess> kernel_accesses;
  // Counted from the records.
  std::uint64_t registered_bytes = 0;
  std::uint64_t ends = 0, matched_ends = 0;  // deregistrations, and those of a known registration
};

}  // namespace uctrace::merge
