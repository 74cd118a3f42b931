// Which receive took which send. The definition that this file implements:
//
//   Among the sends to one worker with one 64-bit tag, in the order in which they were posted, and
//   the receives of that worker that reported this sender tag, in the order in which they were
//   posted (a matched receive: probed), the k-th receive took the k-th send.
//
// It is the only pairing that the ordering rules of tag matching allow as long as one endpoint and
// one posting thread use the key on each side between two quiescent points (all that was sent so
// far had been received before the next send began), and as long as no operation between them is
// missing; otherwise the pairs are `ambiguous`. Where the user did not want all events recorded,
// match_parts.cpp says which sends and receives are counted against each other. Quiescent points
// matter because MPI libraries use the context of a freed communicator, and with it the tag, again
// for other ranks. Receives that were cancelled or failed took nothing.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "log-merger/job/job.hpp"
#include "log-merger/match/am_contents.hpp"
#include "log-merger/match/match_parts.hpp"

namespace uctrace::merge {

namespace {

// Messages that could be one another. What an active message's handler got tells more than its id:
// the lengths, and whether it came from the process itself, which has a transport of its own. What
// is left is laid apart by content (am_contents.hpp).
struct Key {
  std::uint64_t worker_uid, tag;
  log::UcpFamily sent_by = log::UcpFamily::tag_send;
  std::uint64_t bytes = 0, header_bytes = 0;  // active messages, as from_self
  bool from_self = false;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::hash<std::uint64_t>{}((key.worker_uid ^ key.bytes) * 0x9E3779B97F4A7C15u ^ key.tag);
  }
};

using Groups = std::unordered_map<Key, Group, KeyHash>;

constexpr const char* kSelf = "self";  // UCX's transport to the same worker

bool has_self_transport(const Job& job, const ProcessLog& log) {
  return std::any_of(log.interfaces.begin(), log.interfaces.end(), [&](const Interface& interface) {
    return interface.of_ucp && job.run.texts[interface.transport] == kSelf;
  });
}

// A send by an endpoint of a worker to itself, a receive of what the transport to itself brought.
bool is_from_self(const Job& job, const UcpOp& op) {
  const ProcessLog& log = job.logs[static_cast<std::size_t>(op.process)];
  if (op.is_send()) {
    const Index at = row_at(log.ucp_endpoints, op.handle, op.start_tick);
    const Index worker =
        at == kNone ? kNone
                    : row_at(log.workers, log.ucp_endpoints[static_cast<std::size_t>(at)].worker,
                             op.start_tick);
    return worker != kNone && log.workers[static_cast<std::size_t>(worker)].uid == op.peer_uid &&
           has_self_transport(job, log);
  }
  const auto arrival = log.arrival_by_id.find(op.arrival);
  if (arrival == log.arrival_by_id.end()) {
    return false;
  }
  const Interface* interface =
      log.interface(job.arrivals[static_cast<std::size_t>(arrival->second)].interface);
  return interface != nullptr && job.run.texts[interface->transport] == kSelf;
}

Key key_of(const Job& job, const UcpOp& op, std::uint64_t worker_uid, std::uint64_t tag) {
  if (op.is(log::UcpFamily::am_send) || op.is(log::UcpFamily::am_receive)) {
    return {worker_uid,           tag, log::UcpFamily::am_send, op.bytes, op.header_bytes,
            is_from_self(job, op)};
  }
  return {worker_uid, tag};
}

UcpOp& at(Job& job, Index index) { return job.ucp[static_cast<std::size_t>(index)]; }

// More than one source, endpoint or posting thread: their order among each other is not known.
bool one_queue(Job& job, std::span<const Index> ops) {
  const UcpOp& first = at(job, ops.front());
  return std::all_of(ops.begin(), ops.end(), [&](Index index) {
    const UcpOp& op = at(job, index);
    return op.process == first.process && op.lane == first.lane && op.handle == first.handle;
  });
}

// Receives of one worker that may have taken a message of any key that fits them: by mask, of which
// programs use few, and masked tag the place of the first in posting order.
using UnknownReceives = std::map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint64_t>>;

void add_unknown(UnknownReceives& unknown, const UcpOp& receive) {
  const auto [place, fresh] =
      unknown[receive.tag_mask].try_emplace(receive.tag & receive.tag_mask, receive.posted_tick);
  place->second = std::min(place->second, receive.posted_tick);
}

// The place in posting order from which on a receive of unknown outcome may have taken one of the
// key's sends, so that the k-th known receive is not the k-th receive.
std::uint64_t first_doubtful_tick(const Key& key, const UnknownReceives& unknown) {
  std::uint64_t first = UINT64_MAX;
  if (key.sent_by != log::UcpFamily::tag_send) {
    return first;
  }
  for (const auto& [mask, first_of_tag] : unknown) {
    if (const auto found = first_of_tag.find(key.tag & mask); found != first_of_tag.end()) {
      first = std::min(first, found->second);
    }
  }
  return first;
}

// Whether what the log lacks, if anything, comes after all that it has: it is still being written,
// or its process was killed.
bool ends_early(const ProcessLog& log) {
  const log::Damage& damage = log.file.damage();
  return log.file.page().closed == 0 && log.file.dropped_records() == 0 &&
         damage.bad_chunks + damage.bad_records + damage.unreadable_tails + damage.missing_chunks ==
             0;
}

// More receives than sends: sends are missing. They come behind the known ones if the log of their
// process ends early and the tag names one source, as MPI's do; else they may be in between.
bool sends_may_lack(Job& job, const Group& group) {
  if (group.receives.size() <= group.sends.size()) {
    return false;
  }
  const ProcessLog& log = job.logs[static_cast<std::size_t>(at(job, group.sends.front()).process)];
  return log.flavour == MpiFlavour::none || !ends_early(log);
}

// Whether operations may be missing anywhere among those that the log has: records were dropped, or
// parts of it cannot be read. Without its endpoint's or worker's definition one is in no group.
bool may_lack_any(const ProcessLog& log) {
  const log::Damage& damage = log.file.damage();
  std::uint64_t lost =
      damage.bad_chunks + damage.bad_records + damage.unreadable_tails + damage.missing_chunks;
  for (const log::DropKind kind : {log::DropKind::ucp, log::DropKind::definition}) {
    const auto at = static_cast<std::size_t>(kind);
    lost += log.totals.dropped[at] + log.file.page().dropped_without_lane[at];
  }
  return lost != 0;
}

// Whether the k-th known receive need not be the one that took the k-th known send, since either
// need not be the k-th. Where no send can be missing, and all that were sent were taken by receives
// that are known, none of these can be.
bool may_be_shifted(const Job& job, const Group& group, bool all_taken) {
  const auto log_of = [&](Index op) -> const ProcessLog& {
    const Index process = job.ucp[static_cast<std::size_t>(op)].process;
    return job.logs[static_cast<std::size_t>(process)];
  };
  const ProcessLog& sender = log_of(group.sends.front());
  // As tags of MPI say, unless the context of a freed communicator was used again.
  const bool one_source = sender.flavour != MpiFlavour::none &&
                          std::all_of(group.sends.begin(), group.sends.end(),
                                      [&](Index send) { return &log_of(send) == &sender; });
  const bool sends_lack = one_source ? may_lack_any(sender)
                                     : std::any_of(job.logs.begin(), job.logs.end(), may_lack_any);
  return sends_lack || (!all_taken && may_lack_any(log_of(group.receives.front())));
}

// The k at which the first k receives had all ended when the k-th send (from 0) began: they took
// the first k sends. Ascending, with 0 in front and `pairs` at the end. Instants of clocks that
// only the wall clock joins cannot be compared well enough.
std::vector<std::size_t> quiescent_points(Job& job, const Group& group, std::size_t pairs) {
  std::vector<std::size_t> points{0};
  const Index receiver = at(job, group.receives.front()).process;
  std::int64_t latest_end = 0;
  for (std::size_t k = 1; k < pairs; ++k) {
    const std::int64_t end = at(job, group.receives[k - 1]).end_ns;
    if (end < 0) {
      break;  // nothing is quiet while one is open
    }
    latest_end = std::max(latest_end, end);
    const UcpOp& send = at(job, group.sends[k]);
    const auto margin = clock_margin_ns(job, receiver, latest_end, send.process, send.start_ns);
    if (margin && latest_end < send.start_ns - *margin) {
      points.push_back(k);
    }
  }
  points.push_back(pairs);
  return points;
}

// What of an active message was dropped that may have told it from others: its fragments.
bool may_lack_content(const Job& job, const UcpOp& send, const UcpOp& receive) {
  const auto lost = [&](const UcpOp& op) {
    const log::LaneCounters& counted = job.logs[static_cast<std::size_t>(op.process)].totals;
    return counted.dropped[static_cast<std::size_t>(log::DropKind::uct)] != 0;
  };
  return send.is(log::UcpFamily::am_send) && (lost(send) || lost(receive));
}

// Whether each pair, by its place, is the only one possible.
std::vector<bool> sure_pairs(Job& job, const Group& group, std::size_t pairs) {
  std::vector<bool> sure(pairs, group.sends.size() == 1 && group.receives.size() == 1);
  if (sure.front() || sends_may_lack(job, group)) {
    return sure;
  }
  const std::span<const Index> sends(group.sends), receives(group.receives);
  const std::vector<std::size_t> points = quiescent_points(job, group, pairs);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const std::size_t begin = points[i];
    // Sends that no receive took compete with the last ones that were taken.
    const bool last = i + 2 == points.size();
    const std::size_t end = last ? sends.size() : points[i + 1];
    const std::size_t receives_end = last ? receives.size() : points[i + 1];
    if (one_queue(job, sends.subspan(begin, end - begin)) &&
        one_queue(job, receives.subspan(begin, receives_end - begin))) {
      std::fill(sure.begin() + static_cast<std::ptrdiff_t>(begin),
                sure.begin() + static_cast<std::ptrdiff_t>(points[i + 1]), true);
    }
  }
  return sure;
}

// In the order in which they were posted. Within one process ticks order; between processes the job
// clock does, approximately: that case is ambiguous anyway.
void put_in_order(Job& job, Group& group) {
  std::sort(group.sends.begin(), group.sends.end(), [&](Index a, Index b) {
    return std::pair(at(job, a).start_ns, a) < std::pair(at(job, b).start_ns, b);
  });
  std::sort(group.receives.begin(), group.receives.end(), [&](Index a, Index b) {
    return std::pair(at(job, a).posted_tick, a) < std::pair(at(job, b).posted_tick, b);
  });
}

void pair(Job& job, Index send_index, Index receive_index, Match match) {
  UcpOp& send = at(job, send_index);
  UcpOp& receive = at(job, receive_index);
  send.match = receive.match = match;
  send.partner = receive_index;
  receive.partner = send_index;
  receive.peer_process = send.process;
}

// The first sends with the first receives. `certain`: what a pair is that is the only one possible;
// `doubtful`: the place of a receive from which on none is. `all_taken`: as many were sent as
// taken.
void match_group(Job& job, const Group& group, std::uint64_t doubtful, Match certain,
                 bool all_taken) {
  const std::size_t pairs = std::min(group.sends.size(), group.receives.size());
  if (pairs == 0) {
    return;
  }
  const bool shifted = may_be_shifted(job, group, all_taken);
  const std::vector<bool> only_pair =
      shifted ? std::vector<bool>(pairs, false) : sure_pairs(job, group, pairs);
  for (std::size_t k = 0; k < pairs; ++k) {
    const UcpOp& send = at(job, group.sends[k]);
    const UcpOp& receive = at(job, group.receives[k]);
    const bool sure =
        only_pair[k] && receive.posted_tick < doubtful && lengths_agree(send, receive);
    job.findings.doubtful_by_loss += shifted || (!sure && may_lack_content(job, send, receive));
    pair(job, group.sends[k], group.receives[k], sure ? certain : Match::ambiguous);
  }
}

// Tags order all that has the same one.
std::vector<Group> apart(const AmContents& contents, const Key& key, Group& group,
                         bool all_recorded) {
  if (key.sent_by == log::UcpFamily::tag_send) {
    return {std::move(group)};
  }
  return contents.apart(group, all_recorded);
}

void match_whole(Job& job, const Key& key, Group& group, const UnknownReceives& unknown) {
  put_in_order(job, group);
  // With as many receives as sends, every send has its receive.
  const std::uint64_t doubtful =
      group.sends.size() > group.receives.size() ? first_doubtful_tick(key, unknown) : UINT64_MAX;
  const bool all_taken = group.sends.size() == group.receives.size();
  match_group(job, group, doubtful, Match::exact, all_taken);
}

// A receive whose operation is not recorded may be any worker's of its process.
void add_outside_receives(const Job& job, Groups& groups) {
  for (const OutsideReceive& receive : job.outside_receives) {
    for (const Worker& worker : job.logs[static_cast<std::size_t>(receive.process)].workers) {
      if (const auto group = groups.find({worker.uid, receive.sender_tag}); group != groups.end()) {
        group->second.outside.push_back(&receive);
      }
    }
  }
}

// Of a run of which events are missing by the user's wish.
void match_in_parts(Job& job, const Key& key, Group& group, const UnknownReceives& unknown,
                    const std::vector<WholePart>& whole) {
  put_in_order(job, group);
  for (Pairs& pairs : lay_side_by_side(job, group, whole)) {
    const std::uint64_t doubtful =
        pairs.may_lack_receives ? first_doubtful_tick(key, unknown) : UINT64_MAX;
    match_group(job, {std::move(pairs.sends), std::move(pairs.receives), {}}, doubtful, pairs.match,
                false);  // some were on their way when the part began
  }
}

void match_parts(Job& job, Groups& groups, const AmContents& contents,
                 std::unordered_map<std::uint64_t, UnknownReceives>& unknown) {
  const std::vector<WholePart> tag_parts = whole_parts(job, log::UcpFamily::tag_send);
  const std::vector<WholePart> am_parts = whole_parts(job, log::UcpFamily::am_send);
  for (auto& [key, group] : groups) {
    const bool is_tag = key.sent_by == log::UcpFamily::tag_send;
    for (Group& part : apart(contents, key, group, false)) {
      match_in_parts(job, key, part, unknown[key.worker_uid], is_tag ? tag_parts : am_parts);
    }
  }
}

// Data that a handler was only told of: the newest call of a handler that got this address for it.
void link_data_receives(Job& job) {
  std::map<std::pair<Index, std::uint64_t>, std::vector<Index>> told;
  for (std::size_t i = 0; i < job.ucp.size(); ++i) {
    const UcpOp& op = job.ucp[i];
    if (op.is(log::UcpFamily::am_receive)) {
      told[{op.process, op.data}].push_back(static_cast<Index>(i));
    }
  }
  for (auto& [data, calls] : told) {
    std::stable_sort(calls.begin(), calls.end(), [&](Index a, Index b) {
      return at(job, a).start_tick < at(job, b).start_tick;
    });
  }
  for (UcpOp& op : job.ucp) {
    const auto found = told.find({op.process, op.data});
    if (!op.is(log::UcpFamily::am_receive_data) || found == told.end()) {
      continue;
    }
    const auto& calls = found->second;
    const auto after = std::upper_bound(
        calls.begin(), calls.end(), op.start_tick,
        [&](std::uint64_t tick, Index call) { return tick < at(job, call).start_tick; });
    op.data_of = after == calls.begin() ? kNone : *(after - 1);
    if (op.data_of != kNone && op.accepted()) {
      UcpOp& handler = at(job, op.data_of);
      handler.end_ns = op.end_ns;
      handler.end_from = op.end_from;
      handler.end_status = op.end_status;
    }
  }
}

}  // namespace

void match_messages(Job& job) {
  Groups groups;
  std::unordered_map<std::uint64_t, UnknownReceives> unknown;  // by worker uid
  for (std::size_t i = 0; i < job.ucp.size(); ++i) {
    UcpOp& op = job.ucp[i];
    const auto index = static_cast<Index>(i);
    if (op.is_stream()) {
      continue;  // match_streams.cpp
    }
    if (op.is_one_sided()) {
      // Its endpoint says where it went.
      op.match = op.accepted() && op.peer_process != kNone ? Match::exact : Match::unmatched;
    } else if (op.is_send() && op.accepted() && !op.failed() && op.peer_uid != 0) {
      groups[key_of(job, op, op.peer_uid, op.tag)].sends.push_back(index);
    } else if (op.received() && op.worker_uid != 0) {
      groups[key_of(job, op, op.worker_uid, op.sender_tag)].receives.push_back(index);
    } else if (op.took_unknown() && op.worker_uid != 0) {
      add_unknown(unknown[op.worker_uid], op);
    }
  }
  const AmContents contents(job);
  if (job.partly_recorded()) {
    add_outside_receives(job, groups);
    match_parts(job, groups, contents, unknown);
  } else {
    for (auto& [key, group] : groups) {
      for (Group& part : apart(contents, key, group, true)) {
        match_whole(job, key, part, unknown[key.worker_uid]);
      }
    }
  }
  link_data_receives(job);
  if (const std::uint64_t count = job.findings.doubtful_by_loss; count != 0) {
    job.run.notes.push_back(fmt::format(
        "{} message{} ambiguous because records were dropped, or parts of logs cannot be read: "
        "which receive took which send is not certain then",
        count, count == 1 ? " is" : "s are"));
  }
}

}  // namespace uctrace::merge
