// What headers on the wire announced: the ids that later headers name, the buffers that peers
// offered, and which operation each arrival serves. Private to attribute.cpp.
#pragma once

#include <span>
#include <vector>

#include "log-merger/attribute/id_table.hpp"
#include "log-merger/attribute/offers.hpp"
#include "log-merger/attribute/posts.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// What a handler acts upon and whose header tells it from others.
template <typename Event>
bool is_announcement(const Event& event) {
  using wire::AmId;
  return is(event, AmId::rndv_rts) || is(event, AmId::eager_sync_only) ||
         is(event, AmId::eager_sync_first) || is_tag_eager_sync(event) || is_remote_request(event);
}

// All but what names no receiver is known process by process, of several at once.
class Announcements {
 public:
  explicit Announcements(const Job& job);

  // The ids that first fragments put on the wire, of those whose operation is known by now.
  void learn_posts();
  // What each arrival serves: for what its handler posts, and for the ids and buffers it announces.
  void resolve_arrivals();

  // Then: what an arrival serves, kNone where it is not known.
  UcpIndex served_by(ArrivalIndex arrival) const { return serves_[arrival]; }
  // What the ids in the header of an operation mean.
  UcpIndex named_by(const UctOp& op) const;
  // What the newest offer that holds the operation's range serves. Of one process at a time.
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
