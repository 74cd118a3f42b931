#include "log-merger/attribute/announcements.hpp"

#include <algorithm>
#include <optional>

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// A rendezvous that matched a receive posted to the interface: the interface fetched the data, and
// no arrival was delivered. One without a match is cancelled when the receiver has the data another
// way.
bool taken_by_interface(const UctOp& op) {
  return op.op == log::UctOp::tag_rndv_zcopy && op.complete_ns >= 0 && op.end_status == 0;
}

// The offset of the req_id in a request's header (event-log/format/ucp_wire.hpp).
std::size_t request_word(const Arrival& arrival) {
  return is(arrival, AmId::eager_sync_first) ? 4 : is(arrival, AmId::get_request) ? 3 : 2;
}

bool tells(const Arrival& arrival) {
  return is_announcement(arrival) || is(arrival, AmId::rndv_rtr) || is(arrival, AmId::rndv_ats);
}

}  // namespace

Announcements::Announcements(const Job& job)
    : job_(job), partly_recorded_(job.partly_recorded()), of_(job.logs.size()) {}

void Announcements::learn_posts() {
  const std::vector<RowSpan> spans =
      spans_of_processes(job_, job_.uct.size(), &ProcessLog::uct_rows);
  std::vector<std::vector<Post>> posts(spans.size());
  job_.workers.each(spans.size(), [&](std::size_t i) {
    for (std::size_t at = spans[i].begin; at < spans[i].end; ++at) {
      const UctOp& op = job_.uct[at];
      const bool begins_message =
          accepted(op) && op.serves != kNone && (is_announcement(op) || is(op, AmId::eager_first));
      if (begins_message) learn_post(op, posts[i]);
    }
  });
  for (const std::vector<Post>& some : posts) posts_.add(some);
  job_.workers.each(of_.size() + 1, [&](std::size_t i) {
    if (i == 0) {
      posts_.seal();  // takes longest
    } else {
      of_[i - 1].message_ids.seal();
      of_[i - 1].send_requests.seal();
    }
  });
}

void Announcements::learn_post(const UctOp& op, std::vector<Post>& posts) {
  const auto& words = op.header.words;
  if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
    of_[op.process].message_ids.add({op.process}, words[2], op.start_ns, op.serves);
  }
  if (is(op, AmId::rndv_rts) && op.header.count == 5) {
    of_[op.process].send_requests.add({op.process}, words[2], op.start_ns, op.serves);
  }
  if (is_announcement(op) && !taken_by_interface(op) &&
      (op.header.count == wire::shape_of(op.am_id).words || is_tag_eager_sync(op))) {
    posts.push_back(
        {key_of(ucp(op.serves).peer_process, op.am_id, op.header), op.start_ns, op.serves});
  }
}

void Announcements::resolve_arrivals() {
  serves_.assign(job_.arrivals.size(), kNone);
  const std::vector<RowSpan> spans =
      spans_of_processes(job_, job_.arrivals.size(), &ProcessLog::arrival_rows);
  std::vector<std::vector<ArrivalIndex>> in_order(spans.size()), of_any(spans.size());
  job_.workers.each(spans.size(), [&](std::size_t i) {
    in_order[i] = in_time_order(job_.arrivals, spans[i], [&](const Arrival& arrival) {
      return tells(arrival) && !is_of_bypassed_ucp(job_, arrival);
    });
    for (const ArrivalIndex index : in_order[i]) {
      const Arrival& arrival = job_.arrivals[index];
      if (!is_announcement(arrival)) continue;
      const std::span<const Post> known = posts_of(arrival.process, arrival);
      if (known.empty()) {
        of_any[i].push_back(index);
      } else {
        serves_[index] = one_of(arrival, known);
      }
    }
  });
  // Headers that name no receiver are counted over the arrivals at all processes, in the order of
  // time.
  for (const ArrivalIndex index : in_time_order(job_.arrivals, of_any)) {
    const Arrival& arrival = job_.arrivals[index];
    serves_[index] = one_of(arrival, posts_of(kNone, arrival));
  }
  job_.workers.each(spans.size(), [&](std::size_t i) {
    for (const ArrivalIndex index : in_order[i]) learn_arrival(index);
  });
  job_.workers.each(of_.size(), [&](std::size_t i) {
    of_[i].offers.seal();
    of_[i].remote_requests.seal();
    of_[i].receive_requests.seal();
  });
}

UcpIndex Announcements::one_of(const Arrival& arrival, std::span<const Post> known) {
  if (known.empty()) return kNone;
  if (partly_recorded_) return newest_post(arrival, known);
  const std::size_t k = posts_.count_arrival(known);
  return k < known.size() ? known[k].serves : known.back().serves;
}

// They cannot be counted. But a request id is not reused while its message is on its way, so it
// belongs to the newest post before the arrival. If the clocks do not tell which post that is, it
// is not known. The ticks of one process are of one clock, whose order is certain: a message to
// self may arrive within what the clock deviates.
UcpIndex Announcements::newest_post(const Arrival& arrival, std::span<const Post> known) const {
  const UcpOp& first = ucp(known.front().serves);
  const std::optional<std::int64_t> margin =
      arrival.process == first.process ? 0
                                       : clock_margin_ns(job_, arrival.process, arrival.start_ns,
                                                         first.process, arrival.start_ns);
  if (!margin) {
    return known.size() == 1 ? known.front().serves : kNone;
  }
  const auto behind = [&](std::int64_t at_ns) {
    return std::partition_point(known.begin(), known.end(),
                                [&](const Post& post) { return post.at_ns <= at_ns; });
  };
  const auto surely = behind(arrival.start_ns - *margin);
  const auto maybe = behind(arrival.start_ns + *margin);
  const bool one = maybe == surely || maybe - known.begin() == 1;
  return one && maybe != known.begin() ? (maybe - 1)->serves : kNone;
}

void Announcements::learn_arrival(ArrivalIndex index) {
  const Arrival& arrival = job_.arrivals[index];
  if (is_announcement(arrival)) return learn_announcement(arrival, serves_[index]);
  // Also an ATS: after it the interface's part is cancelled.
  serves_[index] = of_[arrival.process].send_requests.find(
      {arrival.process}, arrival.header.words[0], arrival.start_ns);
  if (is(arrival, AmId::rndv_rtr)) learn_offer(arrival, serves_[index]);
}

void Announcements::learn_announcement(const Arrival& arrival, UcpIndex serves) {
  if (serves == kNone) {
    return;
  }
  const auto& words = arrival.header.words;
  const IdScope scope{arrival.process, ucp(serves).process};
  OfProcess& known = of_[arrival.process];
  if (is(arrival, AmId::rndv_rts)) {
    known.remote_requests.add(scope, words[2], arrival.start_ns, serves);
    known.offers.add(
        {arrival.start_ns, arrival.process, true, scope.peer, words[3], words[4], serves});
  } else if (!is(arrival, AmId::put) && !is_tag_eager(arrival)) {
    known.remote_requests.add(scope, words[request_word(arrival)], arrival.start_ns, serves);
  }
}

void Announcements::learn_offer(const Arrival& rtr, UcpIndex serves) {
  if (serves != kNone && rtr.header.count == 5) {
    const auto& words = rtr.header.words;
    const IdScope scope{rtr.process, receiver_of(job_, ucp(serves))};
    OfProcess& known = of_[rtr.process];
    known.receive_requests.add(scope, words[1], rtr.start_ns, serves);
    known.offers.add({rtr.start_ns, rtr.process, false, scope.peer, words[2], words[3], serves});
  }
}

UcpIndex Announcements::named_by(const UctOp& op) const {
  if (op.header.count == 0) return kNone;
  const OfProcess& known = of_[op.process];
  const std::uint64_t id = op.header.words[0];
  if (is(op, AmId::eager_middle)) return known.message_ids.find({op.process}, id, op.start_ns);
  if (is(op, AmId::rndv_ats) || is(op, AmId::rndv_rtr) || is(op, AmId::eager_sync_ack) ||
      is(op, AmId::get_reply) || is(op, AmId::atomic_reply)) {
    return known.remote_requests.find({op.process, peer_of(job_, op)}, id, op.start_ns);
  }
  if (is(op, AmId::rndv_data) || is(op, AmId::rndv_atp)) {
    return known.receive_requests.find({op.process, peer_of(job_, op)}, id, op.start_ns);
  }
  return kNone;
}

UcpIndex Announcements::offered_to(const UctOp& op) {
  return of_[op.process].offers.find(op, peer_of(job_, op));
}

}  // namespace uctrace::merge
