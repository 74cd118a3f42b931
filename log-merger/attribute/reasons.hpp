// UCT operations that serve no UCP operation, each with the evidence for why it was posted. Private
// to the attribution.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class Reasons {
 public:
  Reasons(Job& job, OpenOperations& open) : job_(job), open_(open) {}

  // Told by the operation itself: before anything else.
  void give_first();
  // Endpoints that are given up: when it is known what was posted in a UCP call.
  void give_discards();
  // What holds only because no UCP operation was found.
  void give_last();
  // What serves an operation of uctrace itself, when all is known.
  void give_tool();

 private:
  // The last thing that was posted on an endpoint before it was destroyed.
  bool ends_endpoint(const UctOp& op);
  void find_last_posts();

  Job& job_;
  OpenOperations& open_;
  ByIndex<ProcessLog, ByIndex<Endpoint, std::uint64_t>> last_posts_;
};

}  // namespace uctrace::merge
