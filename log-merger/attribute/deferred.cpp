#include "log-merger/attribute/deferred.hpp"

#include <algorithm>
#include <compare>
#include <map>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/model/first_fit.hpp"

namespace uctrace::merge {

namespace {

using log::UcpFamily;
using wire::AmId;

bool length_known(const UcpOp& op) { return (op.flags & log::UcpOperation::kUnknownLength) == 0; }

// Wildcard for a part of an operation that a look-up leaves open.
constexpr ProcessIndex kAnyPeer{-2};
enum class Length : std::uint8_t { any, known, unknown };

// Operations that a look-up cannot distinguish. kNone is a peer of its own: an unknown one.
struct Key {
  ProcessIndex process;
  UcpFamily family;
  std::uint64_t tag, header_bytes;  // active messages: the handler's id
  ProcessIndex peer = kAnyPeer;
  Length length = Length::any;
  std::uint64_t bytes = 0;
  bool named_buffer = false;
  std::uint64_t buffer = 0;
  auto operator<=>(const Key&) const = default;
};

// What the header of a first fragment tells about its send.
struct Description {
  bool valid = true;
  bool has_bytes = true;     // else the send is one of unknown length
  bool at_least = false;     // `bytes` is only a part
  std::uint64_t bytes = 0;   // of the send
  std::uint64_t buffer = 0;  // 0: not told
};

// `in_front`: the program's header, part of the send's bytes but not of the announced ones.
Description describe_announcement(const UctOp& op, std::uint64_t in_front) {
  const auto& words = op.header.words;
  return {.valid = op.header.count == 5, .bytes = words[4] + in_front, .buffer = words[3]};
}

Description describe_tag_send(const UctOp& op) {
  if (is(op, AmId::rndv_rts)) {
    return describe_announcement(op, 0);
  }
  if (is(op, AmId::eager_first) || is(op, AmId::eager_sync_first)) {
    return {.has_bytes = op.header.count >= 2, .bytes = op.header.words[1]};
  }
  return {.bytes = op.bytes - wire::shape_of(op.am_id).header_bytes};
}

Description describe_am_send(const UctOp& op, std::uint64_t header_bytes) {
  if (is(op, AmId::rndv_rts)) {
    return describe_announcement(op, header_bytes);
  }
  return {.at_least = is(op, AmId::am_first),
          .bytes = op.bytes - wire::shape_of(op.am_id).header_bytes};
}

// By operation: its bytes without a fragment.
using RemainingBytes = ByIndex<UcpOp, std::uint64_t>;

// The deferred operations of one process.
class Deferred {
 public:
  Deferred(Job& job, StartedOperations& started, RemainingBytes& remaining)
      : job_(job), started_(started), remaining_(remaining) {}

  void attribute(const ProcessRows& rows) {
    for (const UcpIndex i : Indexes<UcpOp>(rows.ucp.begin, rows.ucp.end)) {
      const UcpOp& op = job_.ucp[i];
      if (op.accepted() && !started_[i] && op.starts_message()) {
        add_candidate(op, i);
        remaining_[i] = op.bytes;
      }
    }
    for (std::size_t i = rows.uct.begin; i < rows.uct.end; ++i) {
      UctOp& op = job_.uct[i];
      if (accepted(op) && op.link == Link::unattributed && !op.staging &&
          !is_of_bypassed_ucp(job_, op)) {
        attribute(op);
      }
    }
  }

 private:
  const UcpOp& ucp(UcpIndex index) const { return job_.ucp[index]; }

  void attribute(UctOp& op) {
    RemoteRange range;
    if (remote_range(op, range)) {
      attribute_one_sided(op, range);
    } else if (is(op, AmId::stream_data)) {
      attribute_stream(op);
    } else if (is(op, AmId::am_middle)) {
      const auto first = am_first_.find({op.process, op.endpoint});
      give(op, first != am_first_.end() ? first->second : kNone);
    } else if (op.header.count > 0) {
      attribute_send(op);
    }
  }

  void attribute_send(UctOp& op) {
    const std::uint64_t first_word = op.header.words[0];
    UcpIndex found;
    if (starts_tag_send(op)) {
      found =
          first_send({op.process, UcpFamily::tag_send, first_word, 0}, op, describe_tag_send(op));
    }
    if (found == kNone && starts_am_send(op)) {
      const std::uint64_t handler = first_word & 0xffff, header_bytes = first_word >> 32;
      found = first_send({op.process, UcpFamily::am_send, handler, header_bytes}, op,
                         describe_am_send(op, header_bytes));
      if (is(op, AmId::am_first) && found != kNone) {
        am_first_[{op.process, op.endpoint}] = found;
      }
    }
    give(op, found);
    if (found != kNone) {
      started_[found] = true;
    }
  }

  // The bytes of an endpoint are sent in the order of its sends.
  void attribute_stream(UctOp& op) {
    const std::uint64_t payload = op.bytes - wire::shape_of(op.am_id).header_bytes;
    take_part(op, first_of_peers({op.process, UcpFamily::stream_send, 0, 0}, op), payload);
  }

  // All fragments of a deferred operation are posted from progress; each takes its part of the
  // bytes.
  void attribute_one_sided(UctOp& op, const RemoteRange& range) {
    const UcpIndex found = first_of_peers({op.process, range.family, 0, 0}, op, range.address,
                                          range.address + range.bytes);
    take_part(op, found, range.bytes);
  }

  void take_part(UctOp& op, UcpIndex found, std::uint64_t bytes) {
    give(op, found);
    if (found != kNone) {
      remaining_[found] -= std::min(remaining_[found], std::max<std::uint64_t>(bytes, 1));
      started_[found] = remaining_[found] == 0;
    }
  }

  void give(UctOp& op, UcpIndex serves) {
    if (serves != kNone) {
      op.serves = serves;
      op.link = Link::inferred;
    }
  }

  struct Candidates {
    std::vector<UcpIndex> ops;
    FirstFit fits;
  };

  // Adds it under each key that a look-up may use.
  void add_candidate(const UcpOp& op, UcpIndex index) {
    if (op.is_one_sided()) {
      add_for_peers({op.process, op.family(), 0, 0}, index,
                    {op.start_ns, op.remote, op.remote + op.bytes});
      return;
    }
    if (op.is_stream()) {
      add_for_peers({op.process, op.family(), 0, 0}, index, {op.start_ns});
      return;
    }
    const bool am = op.is(UcpFamily::am_send);
    Key key{op.process, op.family(), op.tag, am ? op.header_bytes : 0};
    if (am) {
      add_for_peers(key, index, {op.start_ns, 0, length_known(op) ? op.bytes : UINT64_MAX});
    }
    key.length = length_known(op) ? Length::known : Length::unknown;
    key.bytes = length_known(op) ? op.bytes : 0;
    add_for_peers(key, index, {op.start_ns});
    key.named_buffer = true;
    key.buffer = op.buffer;
    add_for_peers(key, index, {op.start_ns});
  }

  void add_for_peers(Key key, UcpIndex index, const FirstFit::Entry& entry) {
    for (const ProcessIndex peer : {kAnyPeer, ucp(index).peer_process}) {
      key.peer = peer;
      Candidates& candidates = candidates_[key];
      candidates.ops.push_back(index);
      candidates.fits.add(entry);
    }
  }

  UcpIndex first_send(Key key, const UctOp& op, const Description& told) {
    if (!told.valid) {
      return kNone;
    }
    if (told.at_least) {
      return first_of_peers(key, op, 0, told.bytes);
    }
    key.named_buffer = told.buffer != 0;
    key.buffer = told.buffer;
    key.length = Length::unknown;
    UcpIndex found = first_of_peers(key, op);
    if (told.has_bytes) {
      key.length = Length::known;
      key.bytes = told.bytes;
      found = older(found, first_of_peers(key, op));
    }
    return found;
  }

  UcpIndex first_of_peers(Key key, const UctOp& op, std::uint64_t begin = 0,
                          std::uint64_t end = 0) {
    key.peer = peer_of(job_, op);
    if (key.peer == kNone) {
      key.peer = kAnyPeer;
      return first_that(key, op, begin, end);
    }
    const UcpIndex of_peer = first_that(key, op, begin, end);
    key.peer = kNone;
    return older(of_peer, first_that(key, op, begin, end));
  }

  static UcpIndex older(UcpIndex a, UcpIndex b) {
    return a == kNone || b == kNone ? std::max(a, b) : std::min(a, b);
  }

  // The oldest one that is not started, began before `op` and contains the range.
  UcpIndex first_that(const Key& key, const UctOp& op, std::uint64_t begin, std::uint64_t end) {
    const auto found = candidates_.find(key);
    if (found == candidates_.end()) {
      return kNone;
    }
    auto& [ops, fits] = found->second;
    std::size_t place = fits.find(op.start_ns, begin, end);
    while (place != FirstFit::kNothing && started_[ops[place]]) {
      fits.remove(place);  // found under another key
      place = fits.find(op.start_ns, begin, end);
    }
    return place == FirstFit::kNothing ? kNone : ops[place];
  }

  Job& job_;
  StartedOperations& started_;
  RemainingBytes& remaining_;
  std::map<Key, Candidates> candidates_;
  std::map<std::pair<ProcessIndex, std::uint64_t>, UcpIndex> am_first_;  // by process and endpoint
};

void attribute_flushes_of(Job& job, const ProcessRows& rows) {
  std::map<ProcessIndex, std::vector<UcpIndex>> flushes;  // by start
  const auto is_wanted = [](const UcpOp& op) {
    return op.is(UcpFamily::flush) && op.function != log::UcpFunction::worker_fence;
  };
  for (const UcpIndex i : in_time_order(job.ucp, rows.ucp, is_wanted)) {
    flushes[job.ucp[i].process].push_back(i);
  }
  const auto ucp = [&](UcpIndex index) -> const UcpOp& { return job.ucp[index]; };
  for (std::size_t row = rows.uct.begin; row < rows.uct.end; ++row) {
    UctOp& op = job.uct[row];
    if (!accepted(op) || op.link != Link::unattributed || !is_flush(op) ||
        is_of_bypassed_ucp(job, op)) {
      continue;
    }
    const auto& candidates = flushes[op.process];
    auto candidate =
        std::upper_bound(candidates.begin(), candidates.end(), op.start_ns,
                         [&](std::int64_t t, UcpIndex index) { return t < ucp(index).start_ns; });
    const ProcessIndex peer = peer_of(job, op);
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
    range = {UcpFamily::atomic, words[0], 0};  // its length is after the words that are kept
  } else {
    return false;
  }
  return op.header.count > 0 || op.am_id == 0;
}

void attribute_deferred(Job& job, StartedOperations& started) {
  RemainingBytes remaining(job.ucp.size());
  each_process(job,
               [&](const ProcessRows& rows) { Deferred(job, started, remaining).attribute(rows); });
}

void attribute_flushes(Job& job) {
  each_process(job, [&](const ProcessRows& rows) { attribute_flushes_of(job, rows); });
}

}  // namespace uctrace::merge
