// Messages that were sent and that no receive took: on their way to a receive that is open, or
// waiting for one that nobody posts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/hang/comm_members.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// What a call wants to receive, or to probe for.
struct WantedMessage {
  ProcessIndex at;
  CommIndex comm;  // of `at`
  RankGroupRef sources;
  bool any_source = false;
  std::int32_t tag = 0;  // or log::MpiCall::kAny
  UcpIndex receive;      // kNone: a probe
  CallIndex asked_by;
  std::int64_t since_ns = -1;
};

// In what a send is not what is wanted.
struct Difference {
  bool source = false, destination = false, tag = false, comm = false;
};

struct NearestSend {
  UcpIndex send;
  Difference differs;
};

// A message of a call, by what the call says of it.
struct SentMessage {
  UcpIndex op;
  ProcessIndex from, to;
  InstanceIndex comm;
  std::int32_t tag = 0;
  bool by_program = false;  // else a part of a collective operation: its tag is the library's
};

class UnmatchedSends {
 public:
  UnmatchedSends(const Job& job, const CommMembers& members);

  // Whether an unmatched send is for the open receive, each send for the first that it fits, in the
  // order in which they were posted.
  bool is_on_its_way(UcpIndex receive) const { return receive_of_.contains(receive); }
  // Whether one is there that a probe would find.
  bool would_find(const WantedMessage& wanted) const;
  // The open receive that a send is for, kNone: there is none.
  UcpIndex receive_for(UcpIndex send) const;
  // The one without a receive that differs least from what is wanted: in its tag, its communicator,
  // its destination or its source, in this order, and in no other respect; of several the newest.
  std::optional<NearestSend> nearest(const WantedMessage& wanted) const;
  const SentMessage* message_of(UcpIndex send) const;

 private:
  // Places in sent_, those that were sent last first.
  using Newest = std::vector<std::size_t>;

  void pair_with_open_receives();
  void pair(const std::vector<UcpIndex>& sends, const std::vector<UcpIndex>& receives);
  void make_lists();
  // The newest of a list that differs in one respect only, this one.
  UcpIndex newest_with(const Newest& list, const WantedMessage& wanted,
                       bool Difference::*respect) const;

  const Job& job_;
  const CommMembers& members_;
  std::vector<SentMessage> sent_;
  std::unordered_map<UcpIndex, std::size_t> place_of_;  // into sent_
  std::unordered_map<UcpIndex, UcpIndex> receive_of_,
      send_for_;  // receive -> send, send -> receive
  // Of programs' messages.
  std::unordered_map<ProcessIndex, Newest> to_, from_;
  std::map<std::pair<InstanceIndex, std::int32_t>, Newest> by_tag_;  // and communicator
  std::map<InstanceIndex, Newest> by_comm_;
};

}  // namespace uctrace::merge
