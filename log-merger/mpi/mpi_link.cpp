// Which MPI call asked for a UCP operation, and which one happened to drive it.
//
// The call that an operation was posted in (same thread, within its time) is `progressed_in`. It is
// also `asked_by` if the operation is that call's own:
//   * a point-to-point call, when tag and peer in the UCP tag and endpoint agree with its
//     arguments;
//   * a call that starts requests, when they agree with those of a call that made one of them;
//   * a collective (or anything that makes communicators, windows or files), when no earlier
//     non-blocking call started with the same context and tag;
//   * any call, for a one-sided operation or an active message that no handler sent.
// Otherwise it belongs to the non-blocking or persistent collective that first used the same
// context and tag: libraries give each outstanding one its own tag; or to the newest call on the
// file that has the context. The rest is `progress`: no call is named.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/job/call_finder.hpp"
#include "log-merger/mpi/communicators.hpp"
#include "log-merger/mpi/started_requests.hpp"

namespace uctrace::merge {

namespace {

class ProcessLinker {
 public:
  ProcessLinker(Job& job, ProcessIndex process, std::vector<UcpIndex> operations)
      : job_(job),
        log_(job.logs[process]),
        operations_(std::move(operations)),
        calls_(job),
        traits_(job),
        contexts_(log_),
        requests_(job, log_, traits_, contexts_) {}

  void link() {
    for (const UcpIndex index : operations_) {
      link_one(op(index));
      learn_context(op(index));
    }
    for (const UcpIndex index : operations_) {
      name_communicator(op(index));
    }
  }

 private:
  // The call that first used a context and tag.
  struct Owner {
    CallIndex call;
    CommIndex comm;
  };

  UcpOp& op(UcpIndex index) { return job_.ucp[index]; }
  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  CallKind kind(CallIndex call) { return traits_(call).kind; }

  // --- communicators: a call with one tells which context it has; where the call that asked has
  // none, the context tells it

  static bool has_tag(const UcpOp& op) {
    return op.is(log::UcpFamily::tag_send) || op.is(log::UcpFamily::tag_receive);
  }

  static CommIndex first_known(CommIndex comm, CommIndex otherwise) {
    return comm != kNone ? comm : otherwise;
  }

  void learn_context(const UcpOp& op) {
    if (!has_tag(op) || op.asked_by == kNone || op.mpi_link != Link::exact ||
        !traits_(op.asked_by).on_its_context) {
      return;
    }
    const CommIndex comm = first_known(op.comm, call(op.asked_by).comm);
    const auto tag = decode_tag(log_.flavour, operation_tag(op));
    if (comm != kNone && tag) contexts_.learn(*tag, comm);
  }

  void name_communicator(UcpOp& op) {
    if (op.asked_by == kNone) return;
    op.comm = first_known(op.comm, call(op.asked_by).comm);
    if (op.comm != kNone || !has_tag(op)) return;
    if (const auto tag = decode_tag(log_.flavour, operation_tag(op))) {
      op.comm = contexts_.comm_at(*tag, op.start_tick);
    }
  }

  bool was_freed(CommIndex comm, std::uint64_t tick) const {
    return comm != kNone && log_.comms[comm].freed_tick < tick;
  }

  // --- calls

  void link_one(UcpOp& op) {
    op.call = calls_.around(op.process, op.lane, op.start_tick);
    if (!has_tag(op)) {
      link_untagged(op);
      return;
    }
    const auto tag = decode_tag(log_.flavour, operation_tag(op));
    if (op.call == kNone || !tag) {
      if (op.call != kNone) {
        op.asked_by = op.call;  // a protocol message of the library: the best known answer
        op.mpi_link = Link::inferred;
      }
      return;
    }
    if (kind(op.call) == CallKind::start ? take_started(op, *tag) : is_own(op, *tag)) {
      op.asked_by = op.call;
      op.mpi_link = may_be_of_hidden_call(op.call) ? Link::inferred : Link::exact;
      keep_owner(op, *tag);
      return;
    }
    link_driven(op, *tag);
  }

  // Links operations of an earlier call that is still in progress.
  void link_driven(UcpOp& op, const DecodedTag& tag) {
    const auto earlier = started_.find(key_of(tag));
    if (earlier != started_.end()) {
      op.asked_by = earlier->second.call;
      op.comm = earlier->second.comm;
      op.mpi_link = Link::exact;
      return;
    }
    const CallIndex on_file = contexts_.call_on_file(tag);
    if (on_file == kNone) return;
    const auto begun = begun_on_files_.find(call(on_file).comm);
    if (begun != begun_on_files_.end()) {
      op.asked_by = begun->second;
      op.mpi_link = Link::inferred;
    }
  }

  void keep_owner(const UcpOp& op, const DecodedTag& tag) {
    const CallKind of_call = kind(op.call);
    const bool goes_on = of_call == CallKind::nonblocking_collective ||
                         (of_call == CallKind::start && tag.collective);
    if (goes_on) started_[key_of(tag)] = {op.call, first_known(op.comm, call(op.call).comm)};
    if (of_call == CallKind::nonblocking_file) begun_on_files_[call(op.call).comm] = op.call;
    if (of_call == CallKind::file || of_call == CallKind::nonblocking_file) {
      contexts_.give_to_file(tag, op.call);
    } else {
      contexts_.take_from_file(tag);
    }
  }

  bool take_started(UcpOp& op, const DecodedTag& tag) {
    const auto maker = tag.collective ? requests_.maker_of_collective(
                                            op, tag, !owner_is(tag, op.call, op.start_tick))
                                      : requests_.maker_of_message(op, tag);
    if (maker && *maker != kNone) op.comm = call(*maker).comm;
    return maker.has_value();
  }

  // A collective call also drives non-blocking ones that were started outside the windows, if the
  // process has any: function names are in the log from their first call on.
  bool may_be_of_hidden_call(CallIndex caller) {
    if (log_.recorded.whole() || kind(caller) != CallKind::collective) {
      return false;
    }
    if (!uses_nonblocking_) {
      const auto& names = log_.mpi_functions;
      uses_nonblocking_ = std::any_of(names.begin(), names.end(), [&](TextId name) {
        const CallTraits traits = call_traits(job_.run.texts[name]);
        return traits.kind == CallKind::nonblocking_collective ||
               (traits.kind == CallKind::init && traits.sends && traits.receives);
      });
    }
    return *uses_nonblocking_;
  }

  // One-sided operations and active messages have no tag. Libraries request them in the call that
  // needs them; operations in a handler are on behalf of another process.
  void link_untagged(UcpOp& op) {
    if (op.arrival != 0) {
      link_to_partitions(op);
      return;
    }
    if (op.call == kNone || op.is(log::UcpFamily::am_receive)) {
      return;
    }
    op.asked_by = op.call;
    op.mpi_link = kind(op.call) == CallKind::other ? Link::inferred : Link::exact;
    if (kind(op.call) == CallKind::start && op.is_send()) {
      const CallIndex maker = requests_.maker_of_untagged(op);
      if (maker != kNone) op.comm = call(maker).comm;
    }
  }

  void link_to_partitions(UcpOp& op) {
    if (!op.is(log::UcpFamily::am_send)) return;
    const StartedRequests::Readied readied = requests_.readied_before(op);
    if (readied.ready == kNone) return;
    op.asked_by = readied.ready;
    op.comm = call(readied.maker).comm;
    op.mpi_link = Link::inferred;
  }

  // The tag of a receive; its sender tag if known, because wildcards say less.
  static std::uint64_t operation_tag(const UcpOp& op) {
    return op.received() ? op.sender_tag : op.tag;
  }

  bool is_own(const UcpOp& op, const DecodedTag& tag) {
    const MpiCall& c = call(op.call);
    const bool send = op.is_send();
    switch (kind(op.call)) {
      case CallKind::send:
        return send && !tag.collective && agrees(job_, c, c.peer, c.tag, op, tag);
      case CallKind::receive:
        return !send && !tag.collective && agrees(job_, c, c.peer, c.tag, op, tag);
      case CallKind::both:
        return !tag.collective && (send ? agrees(job_, c, c.peer, c.tag, op, tag)
                                        : agrees(job_, c, c.recv_peer, c.recv_tag, op, tag));
      case CallKind::nonblocking_collective:
        // A schedule begun by an earlier call keeps its owner, even if driven from here.
        return tag.collective && owner_is_call(tag, op.call);
      case CallKind::collective:
      case CallKind::file:
      case CallKind::nonblocking_file:
        // Also with a tag that looks like a user's: Open MPI's neighbourhood collectives and
        // communicator constructors use small tags. Point-to-point calls post only their own
        // messages.
        return owner_is_call(tag, op.call);
      case CallKind::start:
      case CallKind::init:
      case CallKind::other:
        return false;
    }
    return false;
  }

  bool owner_is_call(const DecodedTag& tag, CallIndex caller) const {
    const CommIndex comm = call(caller).comm;
    return owner_is(tag, caller, comm == kNone ? 0 : log_.comms[comm].tick);
  }

  // Whether no call but `caller` started with this context and tag. Calls on a communicator freed
  // by `tick` do not count: its context may have passed on to the caller's.
  bool owner_is(const DecodedTag& tag, CallIndex caller, std::uint64_t tick) const {
    const auto owner = started_.find(key_of(tag));
    return owner == started_.end() || owner->second.call == caller ||
           was_freed(owner->second.comm, tick);
  }

  Job& job_;
  const ProcessLog& log_;
  std::vector<UcpIndex> operations_;  // by time
  CallFinder calls_;
  TraitsOfCalls traits_;
  Contexts contexts_;
  StartedRequests requests_;
  std::unordered_map<ScheduleKey, Owner, ScheduleHash> started_;
  std::unordered_map<CommIndex, CallIndex>
      begun_on_files_;  // newest non-blocking call, by communicator
  std::optional<bool> uses_nonblocking_;
};

}  // namespace

bool may_be_with(const Job& job, const MpiCall& call, std::int32_t peer, const UcpOp& op) {
  if (peer < 0 || call.comm == kNone || op.peer_process == kNone) return true;
  const auto world = addressed_rank(job, call.process, call.comm, peer);
  return !world || job.logs[op.peer_process].rank() == *world;
}

bool agrees(const Job& job, const MpiCall& call, std::int32_t peer, std::int32_t mpi_tag,
            const UcpOp& op, const DecodedTag& tag) {
  if (mpi_tag >= 0 && mpi_tag != tag.tag) return false;
  if (op.is_send()) return may_be_with(job, call, peer, op);
  return peer < 0 || call.comm == kNone || !op.received() || tag.source == peer;
}

CallIndex call_around(const Job& job, ProcessIndex process, std::uint16_t lane,
                      std::uint64_t tick) {
  const auto& lanes = job.logs[process].calls_of_lane;
  if (lane >= lanes.size()) {
    return kNone;
  }
  const auto after = std::upper_bound(
      lanes[lane].begin(), lanes[lane].end(), tick,
      [&](std::uint64_t t, CallIndex call) { return t < job.calls[call].start_tick; });
  if (after == lanes[lane].begin()) {
    return kNone;
  }
  const CallIndex candidate = *(after - 1);
  return tick <= job.calls[candidate].end_tick ? candidate : kNone;
}

namespace {

// The operations among `rows` that calls of the process may have requested, by time.
std::vector<UcpIndex> operations_of(const Job& job, ProcessIndex process, RowSpan rows) {
  std::vector<std::pair<std::int64_t, UcpIndex>> times;
  for (const UcpIndex index : Indexes<UcpOp>(rows.begin, rows.end)) {
    const UcpOp& op = job.ucp[index];
    if (op.process == process && !op.tool) times.emplace_back(op.start_ns, index);
  }
  if (!std::is_sorted(times.begin(), times.end())) std::sort(times.begin(), times.end());
  std::vector<UcpIndex> operations;
  operations.reserve(times.size());
  for (const auto& [start_ns, index] : times) operations.push_back(index);
  return operations;
}

}  // namespace

void link_mpi(Job& job) {
  const std::vector<RowSpan> spans = spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
  job.workers.each(job.logs.size(), [&](std::size_t p) {
    const RowSpan rows = spans[spans.size() == job.logs.size() ? p : 0];
    const ProcessIndex process(p);
    ProcessLinker(job, process, operations_of(job, process, rows)).link();
  });
}

}  // namespace uctrace::merge
