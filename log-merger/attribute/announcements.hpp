// Announcements in headers on the wire: the ids that later headers name, the buffers that peers
// offered, and the operation that each arrival serves. Private to attribute.cpp.
#pragma once

#include <span>
#include <vector>

#include "log-merger/attribute/id_table.hpp"
#include "log-merger/attribute/offers.hpp"
#include "log-merger/attribute/posts.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Events that a handler acts upon, and whose header distinguishes them.
template <typename Event>
bool is_announcement(const Event& event) {
  using wire::AmId;
  return is(event, AmId::rndv_rts) || is(event, AmId::eager_sync_only) ||
         is(event, AmId::eager_sync_first) || is_tag_eager_sync(event) || is_remote_request(event);
}

// Works on several processes in parallel, except for headers that name no receiver.
class Announcements {
 public:
  explicit Announcements(const Job& job);

  // Learns the ids that first fragments put on the wire, for those whose operation is known by now.
  void learn_posts();
  // Finds the operation that each arrival serves: needed for posts of its handler, and for the ids
  // and buffers that it announces.
  void resolve_arrivals();

  // After that: the operation that an arrival serves, kNone if not known.
  UcpIndex served_by(ArrivalIndex arrival) const { return serves_[arrival]; }
  // The operation that the ids in a header name.
  UcpIndex named_by(const UctOp& op) const;
  // The operation of the newest offer that contains the range of `op`. For one process at a time.
  UcpIndex offered_to(const UctOp& op);

 private:
  struct OfProcess {
    IdTable message_ids;       // sender's message id
    IdTable send_requests;     // sender's own request id, from its RTS
    IdTable remote_requests;   // receiver: the sender's request id, from arrivals that announce it
    IdTable receive_requests;  // sender: the receiver's request id, from RTR arrivals
    OfferTable offers;
  };

  const UcpOp& ucp(UcpIndex index) const { return job_.ucp[index]; }
  void learn_post(const UctOp& op, std::vector<Post>& posts);
  std::span<const Post> posts_of(ProcessIndex destination, const Arrival& arrival) const {
    return posts_.of(key_of(destination, arrival.am_id, arrival.header));
  }
  UcpIndex one_of(const Arrival& arrival, std::span<const Post> known);
  UcpIndex newest_post(const Arrival& arrival, std::span<const Post> known) const;
  void learn_arrival(ArrivalIndex index);
  void learn_announcement(const Arrival& arrival, UcpIndex serves);
  void learn_offer(const Arrival& rtr, UcpIndex serves);

  const Job& job_;
  const bool partly_recorded_;
  ByIndex<ProcessLog, OfProcess> of_;
  Posts posts_;
  ByIndex<Arrival, UcpIndex> serves_;
};

}  // namespace uctrace::merge
