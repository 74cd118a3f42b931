// Which MPI call asked for a UCP operation, and which one happened to drive it.
//
// The call that an operation was posted in (same thread, within its time) is `progressed_in`. It is
// also the one that asked if the operation is that call's own:
//   * a point-to-point call, when tag and peer in the UCP tag and endpoint agree with its
//   arguments;
//   * MPI_Start or Startall, when it is a point-to-point operation;
//   * a collective (or anything that makes communicators, windows or files), when no earlier
//     non-blocking call started with the same context and tag;
//   * any call, when it is a one-sided operation or an active message that no handler sent.
// Otherwise it belongs to the non-blocking collective that first used the same context and tag:
// libraries give each outstanding one a tag of its own. What is left is `progress`: no call is
// named.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "log-merger/tag_layout.hpp"

namespace uctrace::merge {

namespace {

enum class CallKind : std::uint8_t {
  other,
  send,
  receive,
  both,  // Sendrecv
  start,
  collective,  // blocking, or a call that communicates inside
  nonblocking_collective,
};

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CallKind kind_of(std::string_view name) {
  if (!name.starts_with("MPI_")) {
    return CallKind::other;
  }
  name.remove_prefix(4);
  if (one_of(name, {"Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend"})) {
    return CallKind::send;
  }
  if (one_of(name, {"Recv", "Irecv", "Mrecv", "Imrecv"})) {
    return CallKind::receive;
  }
  if (one_of(name, {"Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"})) {
    return CallKind::both;
  }
  if (one_of(name, {"Start", "Startall"})) {
    return CallKind::start;
  }
  if (name.starts_with("Wait") || name.starts_with("Test") || name.starts_with("Iprobe") ||
      name.starts_with("Improbe") || one_of(name, {"Probe", "Mprobe", "Cancel", "Request_free"})) {
    return CallKind::other;
  }
  // Init, Info_create, Intercomm_create, ... but Ineighbor_alltoall.
  if (name.starts_with("I") && (!name.starts_with("In") || name.starts_with("Ineighbor_"))) {
    return CallKind::nonblocking_collective;
  }
  return one_of(name, {"Comm_idup", "Comm_idup_with_info"}) ? CallKind::nonblocking_collective
                                                            : CallKind::collective;
}

// A communicator's messages of one collective operation.
struct ScheduleKey {
  std::uint64_t context;
  std::int32_t tag;
  bool operator==(const ScheduleKey&) const = default;
};
struct ScheduleHash {
  std::size_t operator()(const ScheduleKey& key) const {
    return std::hash<std::uint64_t>{}(key.context << 32 ^ static_cast<std::uint32_t>(key.tag));
  }
};

class ProcessLinker {
 public:
  ProcessLinker(Job& job, Index process, std::vector<Index> operations)
      : job_(job),
        log_(job.logs[static_cast<std::size_t>(process)]),
        operations_(std::move(operations)) {}

  void link() {
    std::sort(operations_.begin(), operations_.end(), [&](Index a, Index b) {
      return std::pair(op(a).start_ns, a) < std::pair(op(b).start_ns, b);
    });
    for (const Index index : operations_) {
      link_one(op(index));
      learn_context(op(index));
    }
    find_persistent_inits();
    for (const Index index : operations_) {
      name_communicator(op(index));
    }
  }

 private:
  UcpOp& op(Index index) { return job_.ucp[static_cast<std::size_t>(index)]; }
  const MpiCall& call(Index index) const { return job_.calls[static_cast<std::size_t>(index)]; }

  // --- communicators: a call with one tells which context it has; calls without one (MPI_Start)
  // then take theirs from the context in the tag

  struct Learned {
    std::uint64_t since_tick, until_tick;  // contexts are used again after a communicator is freed
    Index comm;
  };

  // MPICH gives point-to-point and collective traffic of one communicator neighbouring contexts.
  std::uint64_t context_of(const DecodedTag& tag) const {
    return log_.flavour == MpiFlavour::mpich ? tag.context & ~std::uint64_t{1} : tag.context;
  }

  static bool has_tag(const UcpOp& op) {
    return op.is(log::UcpFamily::tag_send) || op.is(log::UcpFamily::tag_receive);
  }

  void learn_context(const UcpOp& op) {
    if (!has_tag(op) || op.asked_by == kNone || op.mpi_link != Link::exact ||
        call(op.asked_by).comm == kNone || concerns_window(call(op.asked_by))) {
      return;
    }
    if (const auto tag = decode_tag(log_.flavour, operation_tag(op))) {
      learn(*tag, call(op.asked_by).comm);
    }
  }

  // Libraries give a window a context of its own, which says nothing of its communicator's.
  bool concerns_window(const MpiCall& call) const {
    return call.on_window || job_.run.texts[call.function].starts_with("MPI_Win_");
  }

  void learn(const DecodedTag& tag, Index index) {
    std::vector<Learned>& known = contexts_[context_of(tag)];
    if (known.empty() || known.back().comm != index) {
      const Comm& comm = log_.comms[static_cast<std::size_t>(index)];
      known.push_back({comm.tick, comm.freed_tick, index});
    }
  }

  void name_communicator(UcpOp& op) {
    if (op.asked_by == kNone) {
      return;
    }
    op.comm = call(op.asked_by).comm;
    if (!has_tag(op)) {
      return;
    }
    const auto tag = decode_tag(log_.flavour, operation_tag(op));
    if (op.comm != kNone || !tag) {
      return;
    }
    const auto known = contexts_.find(context_of(*tag));
    if (known != contexts_.end()) {
      for (const Learned& learned : known->second) {
        const bool valid =
            learned.since_tick <= op.start_tick && op.start_tick <= learned.until_tick;
        op.comm = valid ? learned.comm : op.comm;
      }
    }
    if (op.comm == kNone && op.is_send()) {
      op.comm = comm_of_persistent(op, *tag);
      if (op.comm != kNone) {
        learn(*tag, op.comm);
      }
    }
  }

  void find_persistent_inits() {
    for (const auto& calls : log_.calls_of_lane) {
      for (const Index index : calls) {
        const MpiCall& c = call(index);
        if (c.peer >= 0 && c.comm != kNone && job_.run.texts[c.function].ends_with("_init")) {
          persistent_inits_.push_back(index);
        }
      }
    }
  }

  // A communicator that only persistent requests use: the one of the MPI_*_init calls that agree
  // with the operation, if they agree with each other.
  Index comm_of_persistent(const UcpOp& op, const DecodedTag& tag) const {
    Index found = kNone;
    for (const Index index : persistent_inits_) {
      const MpiCall& c = call(index);
      if (c.start_tick > op.start_tick || was_freed(c.comm, op.start_tick) ||
          !agrees(c, c.peer, c.tag, op, tag)) {
        continue;
      }
      if (found != kNone && found != c.comm) {
        return kNone;
      }
      found = c.comm;
    }
    return found;
  }

  bool was_freed(Index comm, std::uint64_t tick) const {
    return comm != kNone && log_.comms[static_cast<std::size_t>(comm)].freed_tick < tick;
  }

  // --- calls

  CallKind kind(Index index) {
    const TextId name = call(index).function;
    const auto [place, fresh] = kinds_.try_emplace(name, CallKind::other);
    if (fresh) {
      place->second = kind_of(job_.run.texts[name]);
    }
    return place->second;
  }

  void link_one(UcpOp& op) {
    op.call = call_around(job_, op.process, op.lane, op.start_tick);
    if (!has_tag(op)) {
      link_untagged(op);
      return;
    }
    const auto tag = decode_tag(log_.flavour, operation_tag(op));
    if (op.call == kNone || !tag) {
      if (op.call != kNone) {
        op.asked_by = op.call;  // the library's own protocol message: the best that is known
        op.mpi_link = Link::inferred;
      }
      return;
    }
    if (is_own(op, *tag)) {
      op.asked_by = op.call;
      op.mpi_link = may_be_of_hidden_call(op.call) ? Link::inferred : Link::exact;
      if (kind(op.call) == CallKind::nonblocking_collective) {
        started_[{tag->context, tag->tag}] = op.call;
      }
      return;
    }
    const auto earlier = started_.find({tag->context, tag->tag});
    if (earlier != started_.end()) {
      op.asked_by = earlier->second;
      op.mpi_link = Link::exact;
    }
  }

  // A collective call also drives the non-blocking ones that were started where nothing was
  // recorded, if the process has any: the names of functions are in the log from their first call
  // on.
  bool may_be_of_hidden_call(Index caller) {
    if (log_.recorded.whole() || kind(caller) != CallKind::collective) {
      return false;
    }
    if (!uses_nonblocking_) {
      const auto& names = log_.mpi_functions;
      uses_nonblocking_ = std::any_of(names.begin(), names.end(), [&](TextId name) {
        return kind_of(job_.run.texts[name]) == CallKind::nonblocking_collective;
      });
    }
    return *uses_nonblocking_;
  }

  // One-sided operations and active messages name nobody. Libraries ask for them in the call that
  // wants them; what a handler asks for, or gets, is on behalf of another process.
  void link_untagged(UcpOp& op) {
    if (op.call == kNone || op.arrival != 0 || op.is(log::UcpFamily::am_receive)) {
      return;
    }
    op.asked_by = op.call;
    op.mpi_link = kind(op.call) == CallKind::other ? Link::inferred : Link::exact;
  }

  // What a receive asked for; its sender tag where that is known, since wildcards say less.
  static std::uint64_t operation_tag(const UcpOp& op) {
    return op.received() ? op.sender_tag : op.tag;
  }

  bool is_own(const UcpOp& op, const DecodedTag& tag) {
    const MpiCall& c = call(op.call);
    const bool send = op.is_send();
    switch (kind(op.call)) {
      case CallKind::send:
        return send && !tag.collective && agrees(c, c.peer, c.tag, op, tag);
      case CallKind::receive:
        return !send && !tag.collective && agrees(c, c.peer, c.tag, op, tag);
      case CallKind::both:
        return !tag.collective && (send ? agrees(c, c.peer, c.tag, op, tag)
                                        : agrees(c, c.recv_peer, c.recv_tag, op, tag));
      case CallKind::start:
        return !tag.collective;
      case CallKind::nonblocking_collective:
        // A schedule that an earlier call began keeps its owner, even if driven from here.
        return tag.collective && owner_is(tag, op.call);
      case CallKind::collective:
        // Also with a tag that looks like a user's: Open MPI's neighbourhood collectives and
        // communicator constructors use small ones. Point-to-point calls post only from themselves.
        return owner_is(tag, op.call);
      case CallKind::other:
        return false;
    }
    return false;
  }

  // Whether nobody else than `caller` started with this context and tag: nobody on a communicator
  // that was freed before the caller's was made, and which may have left its context to it.
  bool owner_is(const DecodedTag& tag, Index caller) const {
    const auto owner = started_.find({tag.context, tag.tag});
    if (owner == started_.end() || owner->second == caller) {
      return true;
    }
    const Index comm = call(caller).comm;
    return comm != kNone &&
           was_freed(call(owner->second).comm, log_.comms[static_cast<std::size_t>(comm)].tick);
  }

  // Tag and peer of a point-to-point call against those in the operation. Wildcards agree with all.
  bool agrees(const MpiCall& c, std::int32_t peer, std::int32_t mpi_tag, const UcpOp& op,
              const DecodedTag& tag) const {
    if (mpi_tag >= 0 && mpi_tag != tag.tag) {
      return false;
    }
    if (peer < 0 || c.comm == kNone) {
      return true;
    }
    if (!op.is_send()) {
      return !op.received() || tag.source == peer;
    }
    const auto world = addressed_rank(job_, c.process, c.comm, peer);
    return !world || op.peer_process == kNone ||
           job_.logs[static_cast<std::size_t>(op.peer_process)].rank() == *world;
  }

  Job& job_;
  const ProcessLog& log_;
  std::vector<Index> operations_;
  std::unordered_map<ScheduleKey, Index, ScheduleHash> started_;
  std::unordered_map<std::uint64_t, std::vector<Learned>> contexts_;
  std::unordered_map<TextId, CallKind> kinds_;
  std::optional<bool> uses_nonblocking_;
  std::vector<Index> persistent_inits_;  // MPI_Send_init and its like
};

}  // namespace

Index call_around(const Job& job, Index process, std::uint16_t lane, std::uint64_t tick) {
  const auto& lanes = job.logs[static_cast<std::size_t>(process)].calls_of_lane;
  if (lane >= lanes.size()) {
    return kNone;
  }
  const auto call = [&](Index c) -> const MpiCall& {
    return job.calls[static_cast<std::size_t>(c)];
  };
  const auto after =
      std::upper_bound(lanes[lane].begin(), lanes[lane].end(), tick,
                       [&](std::uint64_t t, Index c) { return t < call(c).start_tick; });
  if (after == lanes[lane].begin()) {
    return kNone;
  }
  const Index candidate = *(after - 1);
  return tick <= call(candidate).end_tick ? candidate : kNone;
}

void link_mpi(Job& job) {
  std::vector<std::vector<Index>> by_process(job.logs.size());
  for (std::size_t i = 0; i < job.ucp.size(); ++i) {
    if (job.ucp[i].tool) continue;  // no call of the program asked for it
    by_process[static_cast<std::size_t>(job.ucp[i].process)].push_back(static_cast<Index>(i));
  }
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    ProcessLinker(job, static_cast<Index>(p), std::move(by_process[p])).link();
  }
}

}  // namespace uctrace::merge
