#include "log-merger/queued.hpp"

#include <algorithm>
#include <map>

#include "log-merger/wire_view.hpp"

namespace uctrace::merge {

namespace {

using log::UcpFamily;
using wire::AmId;

bool length_known(const UcpOp& op) { return (op.flags & log::UcpOperation::kUnknownLength) == 0; }

// Whether the header of a first fragment describes this send.
bool describes_tag_send(const UctOp& op, const UcpOp& send) {
  const auto& words = op.header.words;
  if (words[0] != send.tag) {
    return false;
  }
  if (is(op, AmId::rndv_rts)) {
    return op.header.count == 5 && (!length_known(send) || words[4] == send.bytes) &&
           (words[3] == send.buffer || words[3] == 0);
  }
  if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
    return !length_known(send) || (op.header.count >= 2 && words[1] == send.bytes);
  }
  return !length_known(send) || op.bytes - wire::shape_of(op.am_id).header_bytes == send.bytes;
}

std::uint64_t handler_id(const UctOp& op) { return op.header.words[0] & 0xffff; }

bool describes_am_send(const UctOp& op, const UcpOp& send) {
  const auto& words = op.header.words;
  if (handler_id(op) != send.tag || words[0] >> 32 != send.header_bytes) {
    return false;
  }
  if (is(op, AmId::rndv_rts)) {
    return op.header.count == 5 &&
           (!length_known(send) || words[4] == send.bytes - send.header_bytes) &&
           (words[3] == send.buffer || words[3] == 0);
  }
  const std::uint64_t carried = op.bytes - wire::shape_of(op.am_id).header_bytes;
  return !length_known(send) ||
         (is(op, AmId::am_first) ? carried <= send.bytes : carried == send.bytes);
}

class Queued {
 public:
  Queued(Job& job, std::vector<bool>& started)
      : job_(job), started_(started), remaining_(job.ucp.size()) {}

  void attribute() {
    for (std::size_t i = 0; i < job_.ucp.size(); ++i) {
      const UcpOp& op = job_.ucp[i];
      if (op.accepted() && !started_[i] && op.starts_message()) {
        const UcpFamily family = op.family();
        candidates_[{op.process, family, op.is_one_sided() ? 0 : op.tag}].push_back(
            static_cast<Index>(i));
        remaining_[i] = op.bytes;
      }
    }
    for (UctOp& op : job_.uct) {
      if (accepted(op) && op.link == Link::unattributed) {
        attribute(op);
      }
    }
  }

 private:
  const UcpOp& ucp(Index index) const { return job_.ucp[static_cast<std::size_t>(index)]; }

  void attribute(UctOp& op) {
    RemoteRange range;
    if (remote_range(op, range)) {
      attribute_one_sided(op, range);
    } else if (is(op, AmId::am_middle)) {
      const auto first = am_first_.find({op.process, op.endpoint});
      give(op, first != am_first_.end() ? first->second : kNone);
    } else if (op.header.count > 0) {
      attribute_send(op);
    }
  }

  void attribute_send(UctOp& op) {
    Index found = kNone;
    if (starts_tag_send(op)) {
      found = first_that({op.process, UcpFamily::tag_send, op.header.words[0]}, op,
                         [&](const UcpOp& send) { return describes_tag_send(op, send); });
    }
    if (found == kNone && starts_am_send(op)) {
      found = first_that({op.process, UcpFamily::am_send, handler_id(op)}, op,
                         [&](const UcpOp& send) { return describes_am_send(op, send); });
      if (is(op, AmId::am_first) && found != kNone) {
        am_first_[{op.process, op.endpoint}] = found;
      }
    }
    give(op, found);
    if (found != kNone) {
      started_[static_cast<std::size_t>(found)] = true;
    }
  }

  // All fragments of a queued operation are posted from progress; each takes its part of it.
  void attribute_one_sided(UctOp& op, const RemoteRange& range) {
    const Index found = first_that({op.process, range.family, 0}, op, [&](const UcpOp& one_sided) {
      return range.address >= one_sided.remote &&
             range.address + range.bytes <= one_sided.remote + one_sided.bytes;
    });
    give(op, found);
    if (found != kNone) {
      const auto i = static_cast<std::size_t>(found);
      remaining_[i] -= std::min(remaining_[i], std::max<std::uint64_t>(range.bytes, 1));
      started_[i] = remaining_[i] == 0;
    }
  }

  void give(UctOp& op, Index serves) {
    if (serves != kNone) {
      op.serves = serves;
      op.link = Link::inferred;
    }
  }

  using Key = std::tuple<Index, UcpFamily, std::uint64_t>;  // process, family, tag or handler
  struct Candidates {
    std::vector<Index> ops;
    std::size_t first = 0;  // those before are started
    void push_back(Index index) { ops.push_back(index); }
  };

  // The oldest that is not started, began before the operation and fits.
  template <typename Fits>
  Index first_that(const Key& key, const UctOp& op, Fits fits) {
    const auto found = candidates_.find(key);
    if (found == candidates_.end()) {
      return kNone;
    }
    auto& [ops, first] = found->second;
    while (first < ops.size() && started_[static_cast<std::size_t>(ops[first])]) {
      ++first;
    }
    const Index peer = peer_of(job_, op);
    for (std::size_t i = first; i < ops.size(); ++i) {
      const UcpOp& candidate = ucp(ops[i]);
      const bool same_peer =
          peer == kNone || candidate.peer_process == kNone || peer == candidate.peer_process;
      if (!started_[static_cast<std::size_t>(ops[i])] && candidate.start_ns <= op.start_ns &&
          same_peer && fits(candidate)) {
        return ops[i];
      }
    }
    return kNone;
  }

  Job& job_;
  std::vector<bool>& started_;
  std::vector<std::uint64_t> remaining_;  // by UCP operation: bytes without a fragment
  std::map<Key, Candidates> candidates_;
  std::map<std::pair<Index, std::uint64_t>, Index> am_first_;  // by process and endpoint
};

}  // namespace

bool remote_range(const UctOp& op, RemoteRange& range) {
  const auto& words = op.header.words;
  if (op.moves_memory()) {
    range = {op.fetches() ? UcpFamily::get : UcpFamily::put, op.remote, op.bytes};
  } else if (is_atomic(op)) {
    range = {UcpFamily::atomic, op.remote, op.bytes};
  } else if (is(op, AmId::put)) {
    range = {UcpFamily::put, words[0], op.bytes - wire::shape_of(op.am_id).header_bytes};
  } else if (is(op, AmId::get_request)) {
    range = {UcpFamily::get, words[0], words[1]};
  } else if (is(op, AmId::atomic_request)) {
    range = {UcpFamily::atomic, words[0], 0};  // its length lies behind the words that are kept
  } else {
    return false;
  }
  return op.header.count > 0 || op.am_id == 0;
}

void attribute_queued(Job& job, std::vector<bool>& started) { Queued(job, started).attribute(); }

void attribute_flushes(Job& job) {
  std::vector<std::vector<Index>> flushes(job.logs.size());  // by process, then start
  for (std::size_t i = 0; i < job.ucp.size(); ++i) {
    const UcpOp& op = job.ucp[i];
    if (op.is(UcpFamily::flush) && op.function != log::UcpFunction::worker_fence) {
      flushes[static_cast<std::size_t>(op.process)].push_back(static_cast<Index>(i));
    }
  }
  const auto ucp = [&](Index index) -> const UcpOp& {
    return job.ucp[static_cast<std::size_t>(index)];
  };
  for (auto& of_process : flushes) {
    std::stable_sort(of_process.begin(), of_process.end(),
                     [&](Index a, Index b) { return ucp(a).start_ns < ucp(b).start_ns; });
  }
  for (UctOp& op : job.uct) {
    if (!accepted(op) || op.link != Link::unattributed || !is_flush(op)) {
      continue;
    }
    const auto& candidates = flushes[static_cast<std::size_t>(op.process)];
    auto candidate =
        std::upper_bound(candidates.begin(), candidates.end(), op.start_ns,
                         [&](std::int64_t t, Index index) { return t < ucp(index).start_ns; });
    const Index peer = peer_of(job, op);
    constexpr int kAtOnce = 64;  // flushes of one process in progress; older ones are not looked at
    for (int i = 0; i < kAtOnce && candidate != candidates.begin(); ++i) {
      const UcpOp& flush = ucp(*--candidate);
      const bool same_peer =
          peer == kNone || flush.peer_process == kNone || peer == flush.peer_process;
      if (same_peer && (flush.end_ns < 0 || op.start_ns <= flush.end_ns)) {
        op.serves = *candidate;
        op.link = Link::inferred;
        break;
      }
    }
  }
}

}  // namespace uctrace::merge
