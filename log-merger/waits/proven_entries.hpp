// Which calls must have been entered before a call could be left, proven by the messages inside
// these calls. For operations whose name does not tell the dependencies. Private to the waits.
//
// A message received in a call was sent in a call that had been entered; messages received there
// before were sent in other calls, and so on. So all calls with such a chain of messages to a call
// were entered before it was left. The chain is followed by the times of each process alone: a send
// in a call comes after all receives that had ended in it.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/call_roles.hpp"

namespace uctrace::merge {

class ProvenEntries {
 public:
  explicit ProvenEntries(const Job& job);

  // The one entered last; kNone: none is known. For a call that starts persistent operations: only
  // if it starts exactly one.
  CallIndex latest(CallIndex call) const;
  // All calls from which messages came directly.
  std::span<const std::pair<CallIndex, CallIndex>> direct(CallIndex call) const;
  // All calls of which something is known, each once.
  std::vector<CallIndex> calls() const;

 private:
  struct Link {
    CallIndex from, to;
    std::int64_t sent_ns, received_ns;
  };

  static std::vector<Link> links_of(const Job& job, ProcessIndex process);
  void follow(const Job& job, const std::vector<Link>& links);

  std::unordered_map<CallIndex, CallIndex> latest_;
  std::vector<std::pair<CallIndex, CallIndex>> direct_;  // to, from; sorted
};

}  // namespace uctrace::merge
