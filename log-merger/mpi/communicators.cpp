#include "log-merger/mpi/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {

constexpr std::int32_t kUnknownRank = -1;

// How communicators made by one function are distinguished.
enum class Told : std::uint8_t {
  predefined,
  by_call,     // one a call on the parent
  by_leader,   // several a call
  by_members,  // the parent's other processes do not call
  by_sides,    // two groups find each other
};

struct Making {
  std::string_view function;
  char letter;
  Told told;
};

constexpr Making kMakings[] = {
    {"MPI_Comm_split", 's', Told::by_leader},
    {"MPI_Comm_split_type", 't', Told::by_leader},
    {"MPI_Comm_create", 'c', Told::by_leader},
    {"MPI_Cart_sub", 'b', Told::by_leader},
    {"MPI_Comm_dup", 'd', Told::by_call},
    {"MPI_Comm_dup_with_info", 'e', Told::by_call},
    {"MPI_Comm_idup", 'i', Told::by_call},
    {"MPI_Comm_idup_with_info", 'o', Told::by_call},
    {"MPI_Cart_create", 'a', Told::by_call},
    {"MPI_Graph_create", 'r', Told::by_call},
    {"MPI_Dist_graph_create", 'g', Told::by_call},
    {"MPI_Dist_graph_create_adjacent", 'j', Told::by_call},
    {"MPI_Intercomm_merge", 'm', Told::by_call},
    {"MPI_Comm_create_group", 'u', Told::by_members},
    {"MPI_Comm_create_from_group", 'f', Told::by_members},
    {"MPI_Intercomm_create", 'I', Told::by_members},
    {"MPI_Intercomm_create_from_groups", 'F', Told::by_members},
    {"MPI_Comm_spawn", 'p', Told::by_sides},
    {"MPI_Comm_spawn_multiple", 'p', Told::by_sides},
    {"MPI_Comm_accept", 'n', Told::by_sides},
    {"MPI_Comm_connect", 'n', Told::by_sides},
    {"MPI_Comm_join", 'k', Told::by_sides},
};

Making making_of(const Job& job, const Comm& comm) {
  const std::string_view function = job.run.texts[comm.function];
  for (const Making& making : kMakings) {
    if (making.function == function) return making;
  }
  switch (comm.predefined) {
    case Predefined::world:
      return {"", 'W', Told::predefined};
    case Predefined::self:
      return {"", 'S', Told::predefined};
    case Predefined::parent:
      return {"", 'p', Told::by_sides};
    case Predefined::none:
      break;
  }
  return {"", '?', Told::by_leader};
}

// A leader with the world that counts its rank.
using Leader = std::pair<Index, std::int32_t>;

// Equal for the same communicator: the way of distinction, the scope (parent, world or process),
// the ordinal of the call, the hash and size of the members, and the leaders of both sides in
// order.
using Key =
    std::tuple<char, std::int32_t, std::int32_t, std::uint64_t, std::uint64_t, Leader, Leader>;

// One side of an intercommunicator whose other side is being searched.
struct OpenSide {
  InstanceIndex instance;
  bool calls;  // it spawned, or connected; the other was spawned, or accepted
  char letter;
  std::uint32_t size, remote_size;
  std::int32_t leader, remote_leader;
  std::int64_t begin_ns, end_ns;  // of the call that made it

  bool is_other_of(const OpenSide& own) const {
    const auto same = [](std::int32_t a, std::int32_t b) { return a < 0 || b < 0 || a == b; };
    return letter == own.letter && (letter == 'k' || calls != own.calls) &&
           size == own.remote_size && remote_size == own.size && same(leader, own.remote_leader) &&
           same(remote_leader, own.leader) && begin_ns <= own.end_ns && own.begin_ns <= end_ns;
  }
};

class Joiner {
 public:
  explicit Joiner(Job& job) : job_(job) {}

  void join() {
    struct Definition {
      std::int64_t at_ns;
      ProcessIndex process;
      CommIndex comm;
    };
    std::vector<Definition> definitions;
    for (const ProcessIndex p : job_.logs.indexes()) {
      const ProcessLog& log = job_.logs[p];
      for (const CommIndex c : log.comms.indexes()) {
        definitions.push_back({log.clock.job_ns(log.comms[c].tick), p, c});
      }
    }
    // Parents come before their children.
    std::stable_sort(definitions.begin(), definitions.end(),
                     [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
    for (const Definition& definition : definitions) place(definition.process, definition.comm);
    find_lost_members();
    note_open_sides();
  }

 private:
  ProcessLog& log_of(ProcessIndex process) { return job_.logs[process]; }
  CommInstance& instance(InstanceIndex index) { return job_.comms[index]; }

  void place(ProcessIndex process, CommIndex index) {
    ProcessLog& log = log_of(process);
    Comm& comm = log.comms[index];
    const Making making = making_of(job_, comm);
    const CommIndex parent_row =
        comm.parent == 0 ? kNone : row_at(log.comms, comm.parent, comm.tick);
    const Comm* parent = parent_row == kNone ? nullptr : &log.comms[parent_row];
    comm.side = side_of(making, comm, parent);
    const InstanceIndex parent_instance = parent == nullptr ? kNone : parent->instance;
    const auto [place, fresh] =
        known_.try_emplace(key_of(making, process, index, parent_instance), kNone);
    if (fresh) {
      place->second = making.told == Told::by_sides ? attach(making, process, comm) : kNone;
      if (place->second == kNone) {
        place->second = make(making, parent_instance, comm);
      } else if (making.letter == 'k' && !knows_both_leaders(comm)) {
        comm.side = 1;  // both sides make the same call: the second is the later one
      }
    }
    comm.instance = place->second;
    take(process, index);
  }

  // Within one world.
  static bool knows_both_leaders(const Comm& comm) {
    return comm.leader >= 0 && comm.remote_leader >= 0;
  }

  // The order of an intercommunicator's sides: that of its parent, if the parent is one; the
  // calling side before the called one; else the lower leader first.
  static std::uint8_t side_of(const Making& making, const Comm& comm, const Comm* parent) {
    if (!comm.inter) return 0;
    if (comm.predefined == Predefined::parent || making.function == "MPI_Comm_connect") return 1;
    if (making.letter == 'k' ? !knows_both_leaders(comm) : making.told == Told::by_sides) return 0;
    if (parent != nullptr && parent->inter) return parent->side;
    return comm.leader > comm.remote_leader ? 1 : 0;
  }

  Key key_of(const Making& making, ProcessIndex process, CommIndex index, InstanceIndex parent) {
    const ProcessLog& log = log_of(process);
    const Comm& comm = log.comms[index];
    const std::int32_t of_process = -2 - process.number();  // no instance has this number
    const std::int32_t without_parent = parent == kNone ? process.number() : -1;
    Leader first{log.world, comm.leader}, second{log.world, comm.inter ? comm.remote_leader : -1};
    if (comm.inter && second < first) std::swap(first, second);
    const Leader nobody{kNone, -1};
    switch (making.told) {
      case Told::predefined:
        return {making.letter, making.letter == 'W' ? log.world : of_process, 0, 0, 0, nobody,
                nobody};
      case Told::by_call:
        return {'1', parent.number(), without_parent, comm.ordinal, 0, nobody, nobody};
      case Told::by_leader:
        return {'+', parent.number(), without_parent, comm.ordinal, 0, first, second};
      case Told::by_members: {
        // The ordinal among communicators with the same members.
        const std::int32_t within = making.letter == 'u' ? parent.number() : -1;
        Key key{making.letter, within, 0, comm.group_hash, comm.size + comm.remote_size,
                first,         second};
        std::get<2>(key) = ++made_[{process, key}];
        return key;
      }
      case Told::by_sides:
        if (comm.predefined == Predefined::parent)
          return {'p', -1, log.world, 0, 0, nobody, nobody};
        if (making.letter == 'k') return {'k', of_process, index.number(), 0, 0, nobody, nobody};
        return {'1', parent.number(), without_parent, comm.ordinal, 0, nobody, nobody};
    }
    return {};
  }

  InstanceIndex make(const Making& making, InstanceIndex parent, const Comm& comm) {
    CommInstance made;
    made.letter = making.letter;
    made.inter = comm.inter;
    made.parent = parent;
    made.function = making.function.empty() ? kNoText : comm.function;
    const InstanceIndex index = job_.comms.add(made);
    if (making.told == Told::by_sides) {
      newest_.instance = index;
      open_.push_back(newest_);
    }
    return index;
  }

  // The instance whose other side this is, if only one fits.
  InstanceIndex attach(const Making& making, ProcessIndex process, const Comm& comm) {
    const ProcessLog& log = log_of(process);
    const std::int64_t end_ns = log.clock.job_ns(comm.tick);
    newest_ = {.instance = kNone,
               .calls = making.letter == 'p' ? comm.predefined == Predefined::none
                                             : making.function == "MPI_Comm_connect",
               .letter = making.letter,
               .size = comm.size,
               .remote_size = comm.remote_size,
               .leader = comm.leader,
               .remote_leader = comm.remote_leader,
               .begin_ns = begin_of_making(log, comm, end_ns),
               .end_ns = end_ns};
    const auto fits = [&](const OpenSide& side) { return side.is_other_of(newest_); };
    const auto found = std::find_if(open_.begin(), open_.end(), fits);
    if (found == open_.end() || std::find_if(found + 1, open_.end(), fits) != open_.end()) {
      return kNone;
    }
    const InstanceIndex index = found->instance;
    open_.erase(found);
    // Independent of the order of processes: the function of the called side.
    if (instance(index).function == kNoText || making.function == "MPI_Comm_accept") {
      instance(index).function = comm.function;
    }
    return index;
  }

  // When the call that made it began; for a spawned world, when the process began.
  std::int64_t begin_of_making(const ProcessLog& log, const Comm& comm, std::int64_t end_ns) {
    if (comm.predefined == Predefined::parent) {
      return log.clock.anchors().empty() ? end_ns
                                         : log.clock.job_ns(log.clock.anchors().front().tick);
    }
    // Its definition directly follows the call, which is then the newest of its thread.
    std::int64_t begin_ns = INT64_MIN;
    const auto call = [&](CallIndex index) -> const MpiCall& { return job_.calls[index]; };
    for (const auto& calls : log.calls_of_lane) {
      const auto later = std::partition_point(calls.begin(), calls.end(), [&](CallIndex index) {
        return call(index).start_tick <= comm.tick;
      });
      if (later == calls.begin()) continue;
      const MpiCall& newest = call(*(later - 1));
      if (newest.function == comm.function) begin_ns = std::max(begin_ns, newest.start_ns);
    }
    // If the user excluded the call, it may have begun at any time before.
    const bool known = begin_ns != INT64_MIN || !log.recorded.whole();
    return known ? begin_ns : end_ns;
  }

  void take(ProcessIndex process, CommIndex index) {
    const ProcessLog& log = log_of(process);
    Comm& comm = log_of(process).comms[index];
    CommInstance& whole = instance(comm.instance);
    CommSide& side = whole.sides[comm.side];
    CommSide& other = whole.sides[1 - comm.side];
    if (side.world == kNone || comm.rank == 0) side.world = log.world;
    side.size = std::max(side.size, comm.size);
    if (comm.leader >= 0) side.leader = comm.leader;
    if (comm.rank == 0 && side.leader_process == kNone) {
      side.leader_process = process;
      side.leader_comm = index;
      side.leader = log.rank();
    }
    if (comm.has_members && side.members.empty()) {
      side.members = comm.members;
      side.complete = !comm.truncated;
    }
    if (whole.inter) {
      other.size = std::max(other.size, comm.remote_size);
      if (other.leader < 0) other.leader = comm.remote_leader;
    }
    const std::int64_t created_ns = log.clock.job_ns(comm.tick);
    whole.created_ns = whole.created_ns < 0 ? created_ns : std::min(whole.created_ns, created_ns);
    if (comm.freed_tick != UINT64_MAX) {
      whole.freed_ns = std::max(whole.freed_ns, log.clock.job_ns(comm.freed_tick));
    }
  }

  // Rank 0 lists the members. Without its log they are rank 0 and all members with a log.
  void find_lost_members() {
    std::map<std::pair<InstanceIndex, std::uint8_t>, std::map<std::uint32_t, std::int32_t>> lost;
    for (const ProcessLog& log : job_.logs) {
      for (const Comm& comm : log.comms) {
        const CommSide& side = instance(comm.instance).sides[comm.side];
        if (!side.members.empty() || log.world != side.world) continue;
        auto& known = lost[{comm.instance, comm.side}];
        if (side.leader >= 0) known[0] = side.leader;
        known[comm.rank] = log.rank();
      }
    }
    for (const auto& [at, known] : lost) {
      const auto& [index, side_number] = at;
      CommSide& side = instance(index).sides[side_number];
      if (instance(index).letter == 'W') {
        side.members = {{0, 1, side.size, 0}};
        side.complete = true;
        continue;
      }
      side.complete = known.size() == side.size;
      std::uint32_t next = 0;
      for (const auto& [rank, world_rank] : known) {
        if (rank > next) side.members.push_back({kUnknownRank, 0, rank - next, 0});
        side.members.push_back({world_rank, 1, 1, 0});
        next = rank + 1;
      }
    }
  }

  void note_open_sides() {
    if (open_.empty()) return;
    job_.run.notes.push_back(fmt::format(
        "of {} intercommunicator(s) that worlds made with each other only one side is known, or "
        "several could be the other one: each such side is listed by itself",
        open_.size()));
  }

  Job& job_;
  std::map<Key, InstanceIndex> known_;
  std::map<std::pair<ProcessIndex, Key>, std::int32_t> made_;
  std::vector<OpenSide> open_;
  OpenSide newest_{};
};

}  // namespace

void join_communicators(Job& job) {
  find_worlds(job);
  Joiner(job).join();
  name_communicators(job);
}

std::optional<std::int32_t> addressed_rank(const Job& job, ProcessIndex process, CommIndex comm,
                                           std::int32_t rank) {
  if (comm == kNone || rank < 0) return std::nullopt;
  const ProcessLog& log = job.logs[process];
  const Comm& own = log.comms[comm];
  if (own.instance == kNone) return std::nullopt;
  const CommInstance& instance = job.comms[own.instance];
  const CommSide& side = instance.sides[instance.inter ? 1 - own.side : 0];
  auto left = static_cast<std::uint32_t>(rank);
  for (const log::RankRun& run : side.members) {
    if (left < run.count) {
      const auto world_rank =
          static_cast<std::int32_t>(run.first + std::int64_t{run.stride} * left);
      return world_rank >= 0 ? std::optional(world_rank) : std::nullopt;
    }
    left -= run.count;
  }
  return std::nullopt;
}

}  // namespace uctrace::merge
