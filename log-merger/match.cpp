// Which receive took which send. The definition that this file implements:
//
//   Among the sends to one worker with one 64-bit tag, in the order in which they were posted, and
//   the receives of that worker that reported this sender tag, in the order in which they were
//   posted (a matched receive: probed), the k-th receive took the k-th send.
//
// It is the only pairing that the ordering rules of tag matching allow as long as one endpoint and
// one posting thread use the key on each side between two quiet points (all that was sent so far
// had been received before the next send began), and as long as no operation between them is
// missing; otherwise the pairs are `ambiguous`. Quiet points matter because MPI libraries use the
// context of a freed communicator, and with it the tag, again for other ranks. Receives that were
// cancelled or failed took nothing.
#include <algorithm>
#include <span>
#include <unordered_map>

#include "log-merger/job.hpp"

namespace uctrace::merge {

namespace {

struct Key {
  std::uint64_t worker_uid, tag;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::hash<std::uint64_t>{}(key.worker_uid * 0x9E3779B97F4A7C15u ^ key.tag);
  }
};

struct Group {
  std::vector<Index> sends, receives;
};

UcpOp& at(Job& job, Index index) { return job.ucp[static_cast<std::size_t>(index)]; }

// More than one source, endpoint or posting thread: their order among each other is not known.
bool one_queue(Job& job, std::span<const Index> ops) {
  const UcpOp& first = at(job, ops.front());
  return std::all_of(ops.begin(), ops.end(), [&](Index index) {
    const UcpOp& op = at(job, index);
    return op.process == first.process && op.lane == first.lane && op.handle == first.handle;
  });
}

bool lengths_agree(const UcpOp& send, const UcpOp& receive) {
  return (send.flags & log::UcpOperation::kUnknownLength) != 0 || receive.end_status != 0 ||
         send.bytes == receive.received_bytes;
}

// Receives of one worker that may have taken a message of any key that fits them.
using UnknownReceives = std::vector<Index>;

// The place in posting order from which on a receive of unknown outcome may have taken one of the
// key's sends, so that the k-th known receive is not the k-th receive.
std::uint64_t first_doubtful_tick(Job& job, const Key& key, const UnknownReceives& unknown) {
  std::uint64_t first = UINT64_MAX;
  for (const Index index : unknown) {
    const UcpOp& receive = at(job, index);
    if (((receive.tag ^ key.tag) & receive.tag_mask) == 0) {
      first = std::min(first, receive.posted_tick);
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

// Instants of different hosts cannot be compared well enough.
bool on_one_clock(Job& job, const Group& group) {
  const auto boot_of = [&](Index op) {
    return job.logs[static_cast<std::size_t>(at(job, op).process)].file.boot_id();
  };
  const auto boot = boot_of(group.receives.front());
  return std::all_of(group.sends.begin(), group.sends.end(),
                     [&](Index send) { return boot_of(send) == boot; });
}

// The k at which the first k receives had all ended when the k-th send (from 0) began: they took
// the first k sends. Ascending, with 0 in front and `pairs` at the end.
std::vector<std::size_t> quiet_points(Job& job, const Group& group, std::size_t pairs) {
  std::vector<std::size_t> points{0};
  const bool comparable = on_one_clock(job, group);
  const auto margin = static_cast<std::int64_t>(
      std::min(2 * job.clock_error_ns, static_cast<double>(log::kFarAwayNs)));
  std::int64_t latest_end = INT64_MIN;
  for (std::size_t k = 1; comparable && k < pairs; ++k) {
    const std::int64_t end = at(job, group.receives[k - 1]).end_ns;
    latest_end = end < 0 ? INT64_MAX : std::max(latest_end, end);
    if (latest_end < at(job, group.sends[k]).start_ns - margin) {
      points.push_back(k);
    }
  }
  points.push_back(pairs);
  return points;
}

// Whether each pair, by its place, is the only one possible.
std::vector<bool> sure_pairs(Job& job, const Group& group, std::size_t pairs) {
  std::vector<bool> sure(pairs, group.sends.size() == 1 && group.receives.size() == 1);
  if (sure.front() || sends_may_lack(job, group)) {
    return sure;
  }
  const std::span<const Index> sends(group.sends), receives(group.receives);
  const std::vector<std::size_t> points = quiet_points(job, group, pairs);
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

void match_group(Job& job, const Key& key, Group& group, const UnknownReceives& unknown) {
  // Within one process ticks order; between processes the job clock does, approximately: that case
  // is ambiguous anyway.
  std::sort(group.sends.begin(), group.sends.end(), [&](Index a, Index b) {
    return std::pair(at(job, a).start_ns, a) < std::pair(at(job, b).start_ns, b);
  });
  std::sort(group.receives.begin(), group.receives.end(), [&](Index a, Index b) {
    return std::pair(at(job, a).posted_tick, a) < std::pair(at(job, b).posted_tick, b);
  });
  const std::size_t pairs = std::min(group.sends.size(), group.receives.size());
  if (pairs == 0) {
    return;
  }
  const std::vector<bool> only_pair = sure_pairs(job, group, pairs);
  // With as many receives as sends, every send has its receive.
  const std::uint64_t doubtful = group.sends.size() > group.receives.size()
                                     ? first_doubtful_tick(job, key, unknown)
                                     : UINT64_MAX;
  for (std::size_t k = 0; k < pairs; ++k) {
    UcpOp& send = at(job, group.sends[k]);
    UcpOp& receive = at(job, group.receives[k]);
    const bool sure =
        only_pair[k] && receive.posted_tick < doubtful && lengths_agree(send, receive);
    send.match = receive.match = sure ? Match::exact : Match::ambiguous;
    send.partner = group.receives[k];
    receive.partner = group.sends[k];
    receive.peer_process = send.process;
  }
}

}  // namespace

void match_messages(Job& job) {
  std::unordered_map<Key, Group, KeyHash> groups;
  std::unordered_map<std::uint64_t, UnknownReceives> unknown;  // by worker uid
  for (std::size_t i = 0; i < job.ucp.size(); ++i) {
    const UcpOp& op = job.ucp[i];
    const auto index = static_cast<Index>(i);
    const bool failed = op.ended && op.end_status < 0;
    if (op.is_send() && op.accepted() && !failed && op.peer_uid != 0) {
      groups[{op.peer_uid, op.tag}].sends.push_back(index);
    } else if (op.received() && op.worker_uid != 0) {
      groups[{op.worker_uid, op.sender_tag}].receives.push_back(index);
    } else if (op.took_unknown() && op.worker_uid != 0) {
      unknown[op.worker_uid].push_back(index);
    }
  }
  for (auto& [key, group] : groups) {
    match_group(job, key, group, unknown[key.worker_uid]);
  }
}

}  // namespace uctrace::merge
