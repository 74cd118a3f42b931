#include "mpi-attribution/communicators.hpp"

#include <atomic>
#include <cstring>

#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"
#include "mpi-attribution/call_record.hpp"
#include "mpi-attribution/children.hpp"
#include "mpi-attribution/counted_comms.hpp"
#include "mpi-attribution/rank_runs.hpp"
#include "mpi-attribution/way.hpp"

namespace uctrace::mpi {

constinit std::atomic<WorldBy> world_by{WorldBy::nothing};
namespace {

constinit interpose::ForkLock describing;
constinit Word world_group = 0;

// The finaliser of splitmix64.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

struct Members {
  RankRuns runs;
  bool complete = true;  // false: more runs than a record holds, or processes of another world
};

// One of the two groups of an intercommunicator, or the group of an intracommunicator.
class Group {
 public:
  Group(int (*ask)(Word, Word*), Handle communicator) {
    ask(communicator, &group_);
    library.ask.group_size(group_, &size_);
  }
  ~Group() { library.ask.group_free(&group_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int size() const { return size_; }

  // Calls visit(rank in MPI_COMM_WORLD) for the first `count` members, until a call returns false.
  // The rank of a process of another world is library.undefined.
  template <typename Visit>
  void for_each_world_rank(int count, Visit visit) const {
    constexpr int kChunk = 512;
    int ranks[kChunk], world_ranks[kChunk];
    for (int begin = 0; begin < count; begin += kChunk) {
      const int some = count - begin < kChunk ? count - begin : kChunk;
      for (int i = 0; i < some; ++i) ranks[i] = begin + i;
      library.ask.group_translate_ranks(group_, some, ranks, world_group, world_ranks);
      for (int i = 0; i < some; ++i) {
        if (!visit(world_ranks[i])) return;
      }
    }
  }

  std::int32_t leader() const {
    std::int32_t leader = -1;
    for_each_world_rank(size_ != 0 ? 1 : 0, [&](int rank) {
      leader = rank == library.undefined ? -1 : rank;
      return true;
    });
    return leader;
  }

  Members members() const {
    Members members;
    for_each_world_rank(size_, [&](int rank) {
      members.complete = rank != library.undefined && members.runs.append(rank);
      return members.complete;
    });
    return members;
  }

  // Adds a value that depends on the members but not on their order. False: one is of another
  // world.
  bool add_to_hash(std::uint64_t& hash) const {
    bool known = true;
    for_each_world_rank(size_, [&](int rank) {
      known = rank != library.undefined;
      hash += mixed(static_cast<std::uint64_t>(rank));
      return known;
    });
    return known;
  }

 private:
  Word group_ = 0;
  int size_ = 0;
};

struct Definition {
  Handle handle;
  Handle members;  // a communicator with the same members
  Handle parent;
  std::uint16_t function;
  std::uint32_t ordinal;
  std::uint64_t tag;  // or the hash of its text
  bool has_tag;
};

std::uint64_t tag_of(const NewCommunicator& made) {
  if (made.tag_text == nullptr) return made.tag;
  std::uint64_t sum = 0;
  for (const char* c = made.tag_text; *c != '\0'; ++c) {
    sum = mixed(sum + static_cast<unsigned char>(*c));
  }
  return sum;
}

// The same number in all members, if the communicator was made by a call with a tag.
std::uint64_t group_hash(const Definition& definition, const Group& local, const Group* remote) {
  if (!definition.has_tag) return 0;
  std::uint64_t hash = 0;
  if (!local.add_to_hash(hash) || (remote != nullptr && !remote->add_to_hash(hash))) return 0;
  hash ^= mixed(definition.tag);
  return hash != 0 ? hash : 1;
}

void write(const Definition& definition, const Group& local, const Group* remote) {
  int rank = 0;
  library.ask.comm_rank(definition.members, &rank);
  // The merger, which joins the records of all members, needs the list once.
  const Members members = rank == 0 ? local.members() : Members{};
  // Ask everything before a record is reserved: an unfinished record holds up those after it.
  const auto size = static_cast<std::uint32_t>(local.size());
  const std::int32_t leader = local.leader();
  const std::int32_t remote_leader = remote != nullptr ? remote->leader() : -1;
  const auto remote_size = remote != nullptr ? static_cast<std::uint32_t>(remote->size()) : 0;
  const std::uint64_t hash = group_hash(definition, local, remote);
  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::Communicator>(members.runs.bytes());
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = definition.handle;
  record->parent = definition.parent;
  record->rank = static_cast<std::uint32_t>(rank);
  record->size = size;
  record->function = definition.function;
  record->ordinal = definition.ordinal;
  record->leader = leader;
  record->remote_leader = remote_leader;
  record->remote_size = remote_size;
  record->group_hash = hash;
  std::memcpy(record + 1, members.runs.data(), members.runs.bytes());
  const auto flags =
      static_cast<std::uint16_t>((rank == 0 ? log::Communicator::kMembers : 0) |
                                 (remote != nullptr ? log::Communicator::kInter : 0) |
                                 (members.complete ? 0 : log::Communicator::kTruncated));
  log::publish(record, log::RecordType::communicator, (sizeof(*record) + members.runs.bytes()) / 8,
               flags, static_cast<std::uint32_t>(members.runs.count()));
}

void define(const Definition& definition) {
  count_communicator(definition.handle, definition.members, world_group);
  int is_inter = 0;
  library.ask.comm_test_inter(definition.members, &is_inter);
  const Group local(library.ask.comm_group, definition.members);
  if (is_inter != 0) {
    const Group remote(library.ask.comm_remote_group, definition.members);
    write(definition, local, &remote);
  } else {
    write(definition, local, nullptr);
  }
}

void define_predefined(Handle handle, const char* name, std::uint16_t function) {
  define({.handle = handle,
          .members = handle,
          .parent = 0,
          .function = function,
          .ordinal = 1,
          .tag = 0,
          .has_tag = false});
  name_communicator(handle, name);
}

bool is_initialised() {
  int initialised = 0, finalised = 0;
  library.ask.initialized(&initialised);
  library.ask.finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void take_place(int rank, int size, log::ThreadLevel level) {
  log::set_world(rank, size, level);
  log::define_text(log::TextKind::mpi_library, 0, library.version, std::strlen(library.version));
  log::set_layer(log::Layer::mpi, log::LayerState::on);
}

// --- sessions ------------------------------------------------------------------------------------

// The open sessions. Sessions beyond this room cannot be used to find the world.
constexpr std::size_t kSessions = 16;
constinit Handle sessions[kSessions]{};
constinit Handle world_session = 0;  // whose set of processes world_group is

void take_place_by_session(Handle session) {
  int rank = 0, size = 0;
  if (library.sessions.group_from_session_pset(session, "mpi://WORLD", &world_group) != 0) {
    log::fault(log::Layer::mpi, log::FaultCode::self_check_failed, 0,
               "MPI has no process set mpi://WORLD: ranks and communicators are not known");
    return;
  }
  library.sessions.group_rank(world_group, &rank);
  library.ask.group_size(world_group, &size);
  world_session = session;
  take_place(rank, size, log::ThreadLevel::unknown);  // each session has its own level
  world_by.store(WorldBy::session, std::memory_order_release);
  choose_way();
}

Handle any_session() {
  for (const Handle session : sessions) {
    if (session != 0) return session;
  }
  return 0;
}

void replace_session(Handle was, Handle is) {
  for (Handle& session : sessions) {
    if (session != was) continue;
    session = is;
    return;
  }
}

// --- MPI_Init ------------------------------------------------------------------------------------

log::ThreadLevel level_of(int level) {
  const UctraceFlavour& of = *library.flavour;
  if (level == of.thread_single) return log::ThreadLevel::single;
  if (level == of.thread_funneled) return log::ThreadLevel::funneled;
  if (level == of.thread_serialized) return log::ThreadLevel::serialized;
  if (level == of.thread_multiple) return log::ThreadLevel::multiple;
  return log::ThreadLevel::unknown;
}

void describe_initialised_world(std::uint16_t function) {
  const int most = library.flavour->thread_multiple;
  int rank = 0, size = 0, thread_level = most;
  library.ask.query_thread(&thread_level);
  may_share_ticks.store(thread_level < most ? 0xff : 0, std::memory_order_relaxed);
  library.ask.comm_rank(library.comm_world, &rank);
  library.ask.comm_size(library.comm_world, &size);
  release_world();  // that of a session
  library.ask.comm_group(library.comm_world, &world_group);
  take_place(rank, size, level_of(thread_level));
  define_predefined(library.comm_world, "MPI_COMM_WORLD", function);
  define_predefined(library.comm_self, "MPI_COMM_SELF", function);
  Word parent = 0;
  library.ask.comm_get_parent(&parent);
  if (library.handle(parent) != library.comm_null) {
    define_predefined(library.handle(parent), "MPI_COMM_PARENT", function);
  }
}

}  // namespace

void describe_world(std::uint16_t function) {
  const interpose::Held held(describing);
  if (world_by.load(std::memory_order_relaxed) != WorldBy::init && is_initialised()) {
    describe_initialised_world(function);
    world_by.store(WorldBy::init, std::memory_order_release);
    choose_way();
  }
}

void describe_world_of_init() {
  if (world_by.load(std::memory_order_acquire) == WorldBy::init || !is_initialised()) return;
  for (unsigned i = 0; i < uctrace_mpi_function_count; ++i) {
    if (std::strcmp(uctrace_mpi_functions[i].pmpi_name, "PMPI_Init") != 0) continue;
    describe(i);
    describe_world(static_cast<std::uint16_t>(i));
    return;
  }
}

void open_session(Handle session) {
  if (library.sessions.group_from_session_pset == nullptr) return;
  const interpose::Held held(describing);
  replace_session(0, session);
  if (world_by.load(std::memory_order_relaxed) == WorldBy::nothing) take_place_by_session(session);
}

bool close_session(Handle session) {
  const interpose::Held held(describing);
  replace_session(session, 0);
  const Handle other = any_session();
  if (session == world_session && world_by.load(std::memory_order_relaxed) == WorldBy::session) {
    release_world();
    world_session = 0;
    if (other != 0) {
      take_place_by_session(other);
    } else {
      world_by.store(WorldBy::nothing, std::memory_order_release);
      choose_way();
    }
  }
  return other != 0;
}

void release_world() {
  if (world_group == 0) return;
  library.ask.group_free(&world_group);
  world_group = 0;
}

void define_communicator(const NewCommunicator& made) {
  const std::uint32_t ordinal = next_ordinal(
      made.parent, made.making == kUctraceByMembers ? CalledBy::members : CalledBy::parent);
  if (made.handle == library.comm_null || made.handle == 0 || world_group == 0) return;
  forget_children(made.handle);
  // A duplicate may still be under construction (MPI_Comm_idup): its parent has the same members.
  const Handle members = made.making == kUctraceDuplicate ? made.parent : made.handle;
  define({.handle = made.handle,
          .members = members,
          .parent = made.parent,
          .function = made.function,
          .ordinal = ordinal,
          .tag = tag_of(made),
          .has_tag = made.has_tag});
}

void end_communicator(Handle handle) {
  forget_children(handle);
  forget_counted(handle);
  end_handle(log::RecordType::communicator_free, handle);
}

void name_communicator(Handle handle, const char* name) {
  name_counted(handle, name);
  log::define_text(log::TextKind::communicator_name, handle, name, std::strlen(name));
}

void define_handle(const NewHandle& made) {
  if (made.type == log::RecordType::window) count_window(made.handle, made.communicator);
  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::Window>();
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = made.handle;
  record->communicator = made.communicator;
  log::publish(record, made.type, sizeof(*record) / 8, 0, 0);
}

void end_handle(log::RecordType type, Handle handle) {
  if (type == log::RecordType::window_free) forget_counted_window(handle);
  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::HandleEnd>();
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = handle;
  log::publish(record, type, sizeof(*record) / 8, 0, 0);
}

}  // namespace uctrace::mpi
