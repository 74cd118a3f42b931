// What the MPI calls of a run cost, for tables of the page.
#pragma once

#include <cstdint>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/call_parts.hpp"
#include "log-merger/summaries/places.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {

// Calls that are alike, or the part of a call's cost that goes to one communicator.
struct CallCost {
  std::uint32_t process = 0;
  TextId function = kNoText;
  std::int32_t communicator = -1;  // that the time went to
  std::int32_t call_site = -1;     // into Run::call_sites
  std::uint64_t calls = 0, ns = 0, waiting_ns = 0;
};

// From the sums that the run keeps; else from all its calls, each read once.
template <typename Body>
void for_each_call_cost(const RowSource& source, Body body) {
  const Run& run = source.run();
  if (run.calls_are_summed) {
    for_each_row(source, Wanted<CallSum>::all(), [&](const CallSum& sum, std::size_t) {
      body(CallCost{sum.process, sum.function, sum.part_communicator, sum.call_site, sum.calls,
                    sum.part_ns, sum.part_waiting_ns});
    });
    return;
  }
  CallParts(source).for_each({&MpiCallRow::stack}, [&](const CallPart& part) {
    const MpiCallRow& call = part.call;
    body(CallCost{call.process, call.function, part.communicator, call_site_at(run, call.stack),
                  part.counts ? 1U : 0U, part.ns, part.waiting_ns});
  });
}

// Nobody reads more rows of such a table than these.
inline constexpr std::size_t kMostPageRows = 500;

}  // namespace uctrace
