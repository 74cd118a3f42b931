// The lists of `hang` (docs/hang.md).
#pragma once

#include <cstddef>
#include <set>
#include <utility>

#include "log-merger/hang/hang_findings.hpp"

namespace uctrace::merge {

class HangLists : public HangFindings {
 public:
  using HangFindings::HangFindings;

 protected:
  Json rank_json(std::size_t i) const;
  Json cycles_json() const;
  // The processes at the ends of chains; processes without a log are named by the waits.
  Json blocked_on_json() const;
  // Members of a communicator that are in different operations at the same position of their order.
  Json mismatched_json();
  Json nearest_json() const;

 private:
  Json wait_json(const OpenWait& wait) const;
  // World rank and tag: of the call, else of the only message that it waits for.
  std::pair<Json, Json> message_of(const MpiCall& call, const Waiting& waiting) const;
  // The wait of a process that leads to the next process of a cycle.
  const OpenWait* wait_for(ProcessIndex process, ProcessIndex next, const Sitter*& of) const;
  bool waiting_any(const Sitter& sitter) const;
  std::size_t waiting_processes() const;
  Json mismatch_json(const MpiCall& call, const CollectiveState& state);
  std::string receiver_words(const SentMessage& sent) const;
  Json nearest_one(const WantedMessage& wanted, const NearestSend& nearest) const;
};

}  // namespace uctrace::merge
