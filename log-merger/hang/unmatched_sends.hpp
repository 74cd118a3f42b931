// Messages that no receive took: on their way to an open receive, or waiting for one that nobody
// posts.
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

// How a send differs from the wanted message.
struct Difference {
  bool source = false, destination = false, tag = false, comm = false;
};

struct NearestSend {
  UcpIndex send;
  Difference differs;
};

// A message of a call, described by the call's arguments.
struct SentMessage {
  UcpIndex op;
  ProcessIndex from, to;
  InstanceIndex comm;
  std::int32_t tag = 0;
  bool by_program = false;  // else part of a collective operation: the tag is the library's
};

class UnmatchedSends {
 public:
  UnmatchedSends(const Job& job, const CommMembers& members);

  // Whether an unmatched send is for the open receive: each send is for the first receive that it
  // fits, in posting order.
  bool is_on_its_way(UcpIndex receive) const { return receive_of_.contains(receive); }
  // Whether there is one that a probe would find.
  bool would_find(const WantedMessage& wanted) const;
  // The open receive that a send is for, kNone: there is none.
  UcpIndex receive_for(UcpIndex send) const;
  // The send without a receive that is most similar to the wanted message: it differs only in its
  // tag, its communicator, its destination or its source, in this order of preference; the newest
  // of several.
  std::optional<NearestSend> nearest(const WantedMessage& wanted) const;
  const SentMessage* message_of(UcpIndex send) const;

 private:
  // Places in sent_, newest first.
  using Newest = std::vector<std::size_t>;

  void pair_with_open_receives();
  void pair(const std::vector<UcpIndex>& sends, const std::vector<UcpIndex>& receives);
  void make_lists();
  // The newest of a list that differs only in this respect.
  UcpIndex newest_with(const Newest& list, const WantedMessage& wanted,
                       bool Difference::*respect) const;

  const Job& job_;
  const CommMembers& members_;
  std::vector<SentMessage> sent_;
  std::unordered_map<UcpIndex, std::size_t> place_of_;  // into sent_
  std::unordered_map<UcpIndex, UcpIndex> receive_of_,
      send_for_;  // receive -> send, send -> receive
  // For messages of the program.
  std::unordered_map<ProcessIndex, Newest> to_, from_;
  std::map<std::pair<InstanceIndex, std::int32_t>, Newest> by_tag_;  // and communicator
  std::map<InstanceIndex, Newest> by_comm_;
};

}  // namespace uctrace::merge
