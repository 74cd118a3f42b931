// What a UCP flush consists of: a flush of a worker flushes its endpoints one by one from a
// callback of progress, and each flush of an endpoint is a request of its own inside UCP.
#pragma once

#include "uct-shim/context.hpp"

namespace uctrace::ucp {

// While it lives, the first part that this thread starts belongs to the flush that `context` names.
// Only the first: a blocking flush then makes progress, which starts parts of other flushes.
class FirstPartOf {
 public:
  explicit FirstPartOf(const uct::Context& context);
  ~FirstPartOf();
  FirstPartOf(const FirstPartOf&) = delete;
  FirstPartOf& operator=(const FirstPartOf&) = delete;

 private:
  uct::Context outer_;  // by value, as uct::Posting
};

}  // namespace uctrace::ucp
