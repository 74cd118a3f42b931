// Why UCT operations that serve no UCP operation were posted, each with evidence. Private to the
// attribution.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class Reasons {
 public:
  Reasons(Job& job, OpenOperations& open) : job_(job), open_(open) {}

  // Reasons visible in the operation itself: before all other steps.
  void give_first();
  // Discarded endpoints: after the posts in UCP calls are known.
  void give_discards();
  // Reasons that hold only because no UCP operation was found.
  void give_last();
  // Operations that serve uctrace itself, after everything else is known.
  void give_tool();

 private:
  // The last post on an endpoint before its destruction.
  bool ends_endpoint(const UctOp& op);
  void find_last_posts();

  Job& job_;
  OpenOperations& open_;
  ByIndex<ProcessLog, ByIndex<Endpoint, std::uint64_t>> last_posts_;
};

}  // namespace uctrace::merge
