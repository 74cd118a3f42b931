#include "mpi-attribution/communicators.hpp"

#include <pthread.h>

#include <atomic>
#include <cstring>

#include "event-log/recorder.hpp"
#include "mpi-attribution/children.hpp"
#include "mpi-attribution/rank_runs.hpp"

namespace uctrace::mpi {

constinit std::atomic<bool> world_described{false};
namespace {

constinit pthread_mutex_t describing = PTHREAD_MUTEX_INITIALIZER;
constinit Word world_group = 0;

struct Members {
  RankRuns runs;
  bool complete = true;  // false: more runs than a record holds, or processes of another world
};

void append_members(Word group, int size, Members& members) {
  constexpr int kChunk = 512;
  int ranks[kChunk], world_ranks[kChunk];
  for (int begin = 0; begin < size; begin += kChunk) {
    const int count = size - begin < kChunk ? size - begin : kChunk;
    for (int i = 0; i < count; ++i) ranks[i] = begin + i;
    library.ask.group_translate_ranks(group, count, ranks, world_group, world_ranks);
    for (int i = 0; i < count; ++i) {
      if (world_ranks[i] == library.undefined || !members.runs.append(world_ranks[i])) {
        members.complete = false;
        return;
      }
    }
  }
}

struct Definition {
  Handle handle;
  Handle members;  // a communicator with the same members
  Handle parent;
  std::uint16_t function;
  std::uint32_t ordinal;
};

void define(const Definition& definition) {
  int rank = 0, size = 0, is_inter = 0;
  library.ask.comm_rank(definition.members, &rank);
  library.ask.comm_test_inter(definition.members, &is_inter);
  Word group = 0;
  (is_inter != 0 ? library.ask.comm_remote_group : library.ask.comm_group)(definition.members,
                                                                           &group);
  library.ask.group_size(group, &size);
  Members members;
  append_members(group, size, members);
  library.ask.group_free(&group);

  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::Communicator>(members.runs.bytes());
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = definition.handle;
  record->parent = definition.parent;
  record->rank = static_cast<std::uint32_t>(rank);
  record->size = static_cast<std::uint32_t>(size);
  record->function = definition.function;
  record->ordinal = definition.ordinal;
  std::memcpy(record + 1, members.runs.data(), members.runs.bytes());
  const auto flags =
      static_cast<std::uint16_t>((is_inter != 0 ? log::Communicator::kInter : 0) |
                                 (members.complete ? 0 : log::Communicator::kTruncated));
  log::publish(record, log::RecordType::communicator, (sizeof(*record) + members.runs.bytes()) / 8,
               flags, static_cast<std::uint32_t>(members.runs.count()));
}

void define_predefined(Handle handle, const char* name, std::uint16_t function) {
  define({.handle = handle, .members = handle, .parent = 0, .function = function, .ordinal = 1});
  name_communicator(handle, name);
}

bool is_initialised() {
  int initialised = 0, finalised = 0;
  library.ask.initialized(&initialised);
  library.ask.finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void describe_initialised_world(std::uint16_t function) {
  constexpr int kThreadMultiple = 3;  // of every MPI so far
  int rank = 0, size = 0, thread_level = kThreadMultiple;
  library.ask.query_thread(&thread_level);
  one_thread_at_a_time.store(thread_level < kThreadMultiple, std::memory_order_relaxed);
  library.ask.comm_rank(library.comm_world, &rank);
  library.ask.comm_size(library.comm_world, &size);
  library.ask.comm_group(library.comm_world, &world_group);
  log::set_world(rank, size);
  log::define_text(log::TextKind::mpi_library, 0, library.version, std::strlen(library.version));
  define_predefined(library.comm_world, "MPI_COMM_WORLD", function);
  define_predefined(library.comm_self, "MPI_COMM_SELF", function);
  Word parent = 0;
  library.ask.comm_get_parent(&parent);
  if (library.handle(parent) != library.comm_null) {
    define_predefined(library.handle(parent), "MPI_COMM_PARENT", function);
  }
  log::set_layer(log::Layer::mpi, log::LayerState::on);
}

}  // namespace

void describe_world(std::uint16_t function) {
  pthread_mutex_lock(&describing);
  if (!world_is_described() && is_initialised()) {
    describe_initialised_world(function);
    world_described.store(true, std::memory_order_release);
  }
  pthread_mutex_unlock(&describing);
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
          .ordinal = ordinal});
}

void end_communicator(Handle handle) {
  forget_children(handle);
  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::HandleEnd>();
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = handle;
  log::publish(record, log::RecordType::communicator_free, sizeof(*record) / 8, 0, 0);
}

void name_communicator(Handle handle, const char* name) {
  log::define_text(log::TextKind::communicator_name, handle, name, std::strlen(name));
}

void define_window(const NewWindow& made) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) return;
  auto* record = lane->define<log::Window>();
  if (record == nullptr) return;
  record->tick = log::now();
  record->handle = made.handle;
  record->communicator = made.communicator;
  log::publish(record, log::RecordType::window, sizeof(*record) / 8, 0, 0);
}

}  // namespace uctrace::mpi
