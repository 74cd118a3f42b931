// Which receives took the bytes of which stream sends. The definition that this file implements:
//
//   The bytes that the receives of an endpoint took, in posting order, are the bytes that the
//   endpoint at the other end sent, in posting order.
//
// A send is matched when receives took all its bytes; a partly unread one is not. The two ends of a
// stream are found, in this order,
//   1. by the id in the header of the fragments, the receiver's name for its endpoint: UCP uses the
//      endpoint's address for it, or a number known from the arrivals in which receives end exact
//   2. by UCP's own rule: the k-th endpoint of a worker to another one is connected with the k-th
//      endpoint of that one to the first, and the endpoint of a worker to itself with itself  exact
//   3. by being the only ones left between two processes                                 inferred
// Where several threads send or receive at one end, their order is not known: `ambiguous`.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// One direction of a UCP endpoint: all its stream sends, or all its stream receives.
struct End {
  ProcessIndex process;
  std::uint64_t handle = 0;
  IndexOf<UcpEndpoint> row;
  std::vector<UcpIndex> ops;  // in posting order
  bool ordered = true;        // by one thread
  // The receiver's ids for its endpoint: the own ids of a receiving end, or the ids that a sending
  // end wrote.
  std::set<std::uint64_t> ids;
  ProcessIndex peer_process;
  Index other = kNone;  // the other end, into the list of ends of the other direction
  bool exact = false;
};

class Streams {
 public:
  explicit Streams(Job& job) : job_(job) {}

  void match() {
    collect();
    if (senders_.empty() && receivers_.empty()) {
      return;
    }
    learn_ids();
    pair_by_id();
    pair_by_connection();
    pair_the_only_ones();
    leave_lone_ends();
    for (const End& sender : senders_) {
      if (sender.other == kNone) {
        continue;
      }
      const End& receiver = receivers_[static_cast<std::size_t>(sender.other)];
      if (is_whole(sender) && is_whole(receiver)) {
        deliver(sender, receiver);
      } else {
        leave_open(sender);
        leave_open(receiver);
      }
    }
  }

 private:
  UcpOp& op(UcpIndex index) { return job_.ucp[index]; }
  const ProcessLog& log_of(const End& end) const { return job_.logs[end.process]; }

  void collect() {
    std::map<std::tuple<ProcessIndex, std::uint64_t, IndexOf<UcpEndpoint>>, End> sends, receives;
    for (const UcpIndex i : job_.ucp.indexes()) {
      const UcpOp& op = job_.ucp[i];
      if (!op.is_stream() || !op.accepted()) {
        continue;
      }
      const ProcessLog& log = job_.logs[op.process];
      const auto row = row_at(log.ucp_endpoints, op.handle, op.start_tick);
      End& end = (op.is_send() ? sends : receives)[{op.process, op.handle, row}];
      end.process = op.process;
      end.handle = op.handle;
      end.row = row;
      end.peer_process = op.peer_process;
      end.ops.push_back(i);
    }
    take(sends, senders_);
    take(receives, receivers_);
  }

  template <typename Ends>
  void take(Ends& from, std::vector<End>& to) {
    for (auto& of_key : from) {
      End& end = of_key.second;  // clang's lambdas capture no structured bindings
      std::stable_sort(end.ops.begin(), end.ops.end(),
                       [&](UcpIndex a, UcpIndex b) { return op(a).start_tick < op(b).start_tick; });
      end.ordered = std::all_of(end.ops.begin(), end.ops.end(),
                                [&](UcpIndex i) { return op(i).lane == op(end.ops.front()).lane; });
      to.push_back(std::move(end));
    }
  }

  void learn_ids() {
    std::map<UcpIndex, End*> sender_of;
    for (End& sender : senders_) {
      for (const UcpIndex i : sender.ops) {
        sender_of[i] = &sender;
      }
    }
    std::map<UcpIndex, std::uint64_t> sent_bytes;  // by send, on the wire
    for (const UctOp& uct : job_.uct) {
      if (!is(uct, AmId::stream_data) || !accepted(uct) || uct.header.count == 0) continue;
      const auto sender = sender_of.find(uct.serves);
      if (sender == sender_of.end()) continue;
      sender->second->ids.insert(uct.header.words[0]);
      if (const ProcessIndex peer = peer_of(job_, uct); peer != kNone) {
        sender->second->peer_process = peer;
      }
      sent_bytes[uct.serves] += uct.bytes - wire::shape_of(uct.am_id).header_bytes;
    }
    for (const auto& [send, bytes] : sent_bytes) {
      if ((op(send).flags & log::UcpOperation::kUnknownLength) != 0) {
        op(send).bytes = bytes;  // a generic datatype: only the wire tells its packed length
      }
    }
    for (End& receiver : receivers_) {
      learn_own_ids(receiver);
    }
  }

  void learn_own_ids(End& receiver) {
    receiver.ids.insert(receiver.handle);
    const auto& arrivals = log_of(receiver).arrival_by_id;
    for (const UcpIndex i : receiver.ops) {
      const auto found = arrivals.find(op(i).ended_in);
      if (found == arrivals.end()) {
        continue;
      }
      const Arrival& arrival = job_.arrivals[found->second];
      if (is(arrival, AmId::stream_data) && arrival.header.count > 0) {
        receiver.ids.insert(arrival.header.words[0]);
      }
    }
  }

  std::uint64_t worker_uid(const End& end) const {
    const ProcessLog& log = log_of(end);
    if (end.row == kNone) {
      return 0;
    }
    const UcpEndpoint& endpoint = log.ucp_endpoints[end.row];
    const auto worker = log.worker_at(endpoint.worker, endpoint.tick);
    return worker == kNone ? 0 : log.workers[worker].uid;
  }

  std::uint64_t remote_uid(const End& end) const {
    return end.row == kNone ? 0 : log_of(end).ucp_endpoints[end.row].remote_uid;
  }

  // Whether nothing known about the two contradicts it.
  bool may_be_ends(const End& sender, const End& receiver) const {
    const auto agree = [](std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 || a == b; };
    return (sender.peer_process == kNone || sender.peer_process == receiver.process) &&
           (receiver.peer_process == kNone || receiver.peer_process == sender.process) &&
           agree(remote_uid(sender), worker_uid(receiver)) &&
           agree(worker_uid(sender), remote_uid(receiver));
  }

  void join(std::size_t sender, std::size_t receiver, bool exact) {
    senders_[sender].other = static_cast<Index>(receiver);
    receivers_[receiver].other = static_cast<Index>(sender);
    senders_[sender].exact = receivers_[receiver].exact = exact;
  }

  // An id that is an address may be reused: then several ends fit, and none is taken.
  void pair_by_id() {
    std::map<std::uint64_t, std::vector<std::size_t>> senders_of, receivers_of;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      for (const std::uint64_t id : senders_[i].ids) senders_of[id].push_back(i);
    }
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      for (const std::uint64_t id : receivers_[i].ids) receivers_of[id].push_back(i);
    }
    for (const auto& [id, senders] : senders_of) {
      const auto found = receivers_of.find(id);
      if (found != receivers_of.end()) {
        pair_only(senders, found->second, true);
      }
    }
  }

  // Joins candidates that fit each other and no others.
  void pair_only(const std::vector<std::size_t>& senders, const std::vector<std::size_t>& receivers,
                 bool exact) {
    std::map<std::size_t, std::vector<std::size_t>> fits;  // by sender
    std::map<std::size_t, std::size_t> wanted;             // by receiver: how many it fits
    for (const std::size_t s : senders) {
      for (const std::size_t r : receivers) {
        if (senders_[s].other == kNone && receivers_[r].other == kNone &&
            may_be_ends(senders_[s], receivers_[r])) {
          fits[s].push_back(r);
          ++wanted[r];
        }
      }
    }
    for (const auto& [s, fitting] : fits) {
      if (fitting.size() == 1 && wanted[fitting.front()] == 1) {
        join(s, fitting.front(), exact);
      }
    }
  }

  // The place of each endpoint among those of its worker to the same remote one.
  using Connection = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;

  Connection connection_of(const End& end) const {
    const std::uint64_t own = worker_uid(end), remote = remote_uid(end);
    std::size_t place = 0;
    if (own != 0 && remote != 0) {
      const ProcessLog& log = log_of(end);
      const UcpEndpoint& mine = log.ucp_endpoints[end.row];
      place = static_cast<std::size_t>(std::count_if(
          log.ucp_endpoints.begin(), log.ucp_endpoints.end(), [&](const UcpEndpoint& other) {
            return other.worker == mine.worker && other.remote_uid == remote &&
                   other.tick < mine.tick;
          }));
    }
    return {own, remote, place};
  }

  void pair_by_connection() {
    std::map<Connection, std::size_t> receiver_at;
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      if (receivers_[i].other == kNone) {
        receiver_at[connection_of(receivers_[i])] = i;
      }
    }
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      const auto [own, remote, place] = connection_of(senders_[i]);
      const auto found = receiver_at.find({remote, own, place});
      if (senders_[i].other == kNone && own != 0 && remote != 0 && found != receiver_at.end()) {
        join(i, found->second, true);
      }
    }
  }

  void pair_the_only_ones() {
    std::vector<std::size_t> senders, receivers;
    for (std::size_t i = 0; i < senders_.size(); ++i) {
      if (senders_[i].other == kNone) senders.push_back(i);
    }
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
      if (receivers_[i].other == kNone) receivers.push_back(i);
    }
    pair_only(senders, receivers, false);
  }

  // Whether no stream operation is missing by the user's choice: otherwise bytes cannot be counted.
  bool is_whole(const End& end) const { return is_whole(log_of(end)); }

  static bool is_whole(const ProcessLog& log) {
    const std::vector<LaneGap>& gaps = log.recorded.lane_gaps;
    return std::none_of(gaps.begin(), gaps.end(), [](const LaneGap& gap) {
      return gap.overwritten || gap.counted.ucp_stream_sends + gap.counted.ucp_stream_receives != 0;
    });
  }

  // All operations of the other end may be missing.
  void leave_lone_ends() {
    if (std::all_of(job_.logs.begin(), job_.logs.end(),
                    [](const ProcessLog& log) { return is_whole(log); })) {
      return;
    }
    for (const std::vector<End>* ends : {&senders_, &receivers_}) {
      for (const End& end : *ends) {
        if (end.other == kNone) leave_open(end);
      }
    }
  }

  void leave_open(const End& end) {
    for (const UcpIndex index : end.ops) {
      op(index).match = Match::outside_window;
    }
  }

  // Aligns the bytes sent with the bytes received.
  void deliver(const End& sender, const End& receiver) {
    Match match = sender.exact ? Match::exact : Match::inferred;
    if (!sender.ordered || !receiver.ordered) {
      match = Match::ambiguous;
    }
    std::size_t next = 0;  // receive that takes the next byte
    std::uint64_t left = 0;
    bool unknown = false;  // the log does not tell what a receive took
    const auto advance = [&] {
      while (left == 0 && next < receiver.ops.size()) {
        const UcpOp& receive = op(receiver.ops[next]);
        left = receive.received_bytes;
        next += left == 0;
        unknown = unknown || !receive.ended;
      }
      match = left > 0 && unknown ? Match::ambiguous : match;
      return left > 0;
    };
    for (const UcpIndex r : receiver.ops) {
      op(r).stream_known = true;
    }
    for (const UcpIndex s : sender.ops) {
      UcpOp& send = op(s);
      send.peer_process = receiver.process;
      UcpIndex last;
      while (send.taken_bytes < send.bytes && advance()) {
        const std::uint64_t part = std::min(left, send.bytes - send.taken_bytes);
        last = receiver.ops[next];
        take(send, s, last, part, match);
        left -= part;
        next += left == 0;
      }
      finish(send, last, match);
    }
  }

  void take(UcpOp& send, UcpIndex s, UcpIndex r, std::uint64_t part, Match match) {
    UcpOp& receive = op(r);
    send.taken_bytes += part;
    send.first_taker = send.first_taker == kNone ? r : send.first_taker;
    if (receive.partner == kNone) {
      receive.partner = s;
      receive.match = match;
      receive.peer_process = send.process;
    }
  }

  // A receive cannot take anything from an empty send.
  static void finish(UcpOp& send, UcpIndex last, Match match) {
    if (send.taken_bytes == send.bytes && !send.failed()) {
      send.partner = last;
      send.match = match;
    }
  }

  Job& job_;
  std::vector<End> senders_, receivers_;
};

}  // namespace

void match_streams(Job& job) { Streams(job).match(); }

}  // namespace uctrace::merge
