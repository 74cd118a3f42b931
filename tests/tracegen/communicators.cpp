// The communicators and windows of a process, made in and behind MPI_Init.
#include <cstring>

#include "tests/tracegen/process_log.hpp"
#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

using log::RecordType;

constexpr std::uint64_t kOfGroups = 0x6209;

}  // namespace

// A communicator as this process has it, and the call that makes it.
struct ProcessLog::NewComm {
  std::uint64_t handle = 0, parent = 0;
  std::int32_t rank = 0, size = 0;
  MpiFunction function = MpiFunction::none;
  std::uint32_t ordinal = 1;
  log::RankRun members{};
  std::string name{};
  std::int64_t at_ns = 0;
  // Of an intercommunicator. -1: a rank of another world.
  bool inter = false;
  std::int32_t remote_leader = -1, remote_size = 0;
  std::uint64_t group_hash = 0;
};

void ProcessLog::define_communicator(const NewComm& comm) {
  log::Communicator record{};
  const bool lists = comm.rank == 0;
  record.head.a = static_cast<std::uint16_t>((lists ? log::Communicator::kMembers : 0) |
                                             (comm.inter ? log::Communicator::kInter : 0));
  record.head.b = lists ? 1 : 0;
  record.tick = clock_.tick(comm.at_ns);
  record.handle = comm.handle;
  record.parent = comm.parent;
  record.rank = static_cast<std::uint32_t>(comm.rank);
  record.size = static_cast<std::uint32_t>(comm.size);
  record.function = static_cast<std::uint32_t>(comm.function);
  record.ordinal = comm.ordinal;
  record.leader = comm.members.first;
  record.remote_leader = comm.remote_leader;
  record.remote_size = static_cast<std::uint32_t>(comm.remote_size);
  record.group_hash = comm.group_hash;
  std::uint64_t tail[2];
  std::memcpy(tail, &comm.members, sizeof tail);
  lanes_[0].define(record, RecordType::communicator, {tail, lists ? std::size_t{2} : 0},
                   comm.at_ns);
  text(log::TextKind::communicator_name, comm.handle, comm.name, comm.at_ns + 50);
}

void ProcessLog::make_communicator(NewComm comm, std::int64_t took_ns) {
  lanes_[0].mpi(static_cast<std::uint16_t>(comm.function), comm.at_ns, comm.at_ns + took_ns,
                comm.parent);
  comm.at_ns += took_ns;
  define_communicator(comm);
}

void ProcessLog::define_communicators() {
  const std::int32_t own = shape_.world_rank(rank_), size = shape_.world_size(rank_);
  const auto run = [](std::int32_t first, std::int32_t stride, std::int32_t count) {
    return log::RankRun{first, stride, static_cast<std::uint32_t>(count), 0};
  };
  const std::uint64_t world = shape_.comm_handle(Comm::world);
  const std::int64_t at = begin_.defined_ns;
  NewComm all{.handle = world,
              .rank = own,
              .size = size,
              .members = run(0, 1, size),
              .name = "MPI_COMM_WORLD",
              .at_ns = at};
  define_communicator(all);
  define_communicator({.handle = handle::kCommSelf,
                       .size = 1,
                       .members = run(own, 1, 1),
                       .name = "MPI_COMM_SELF",
                       .at_ns = at + 100});
  lanes_[0].mpi(static_cast<std::uint16_t>(MpiFunction::init), begin_.init_ns, at + 1000, 0);
  if (shape_.is_spawned(rank_)) define_parent(all);
  all.handle = shape_.comm_handle(Comm::duplicate);
  all.parent = world;
  all.function = MpiFunction::comm_dup;
  all.name = shape_.comm_name(Comm::duplicate, rank_);
  all.at_ns = at + 10'000;
  make_communicator(all, 5000);
  const NewComm half{.handle = shape_.comm_handle(Comm::parity),
                     .parent = world,
                     .rank = own / 2,
                     .size = shape_.size_of(Comm::parity, rank_),
                     .function = MpiFunction::comm_split,
                     .ordinal = 2,
                     .members = run(own % 2, 2, shape_.size_of(Comm::parity, rank_)),
                     .name = shape_.comm_name(Comm::parity, rank_),
                     .at_ns = at + 20'000};
  make_communicator(half, 5000);
  if (shape_.options().uses(Comm::inter) && shape_.has_comm(Comm::inter, rank_)) {
    join_halves(half);
  }
  define_window(at + 30'000);
  if (shape_.options().spawned > 0 && !shape_.is_spawned(rank_)) {
    all.handle = shape_.comm_handle(Comm::spawned);
    all.function = MpiFunction::comm_spawn;
    all.ordinal = 3;
    all.name = shape_.comm_name(Comm::spawned, rank_);
    all.inter = true;
    all.remote_size = shape_.options().spawned;
    all.at_ns = when::kSpawn;
    make_communicator(all, when::kSpawnTook);
  }
}

// Of a spawned world, the other side of what its parents made.
void ProcessLog::define_parent(NewComm all) {
  all.handle = shape_.comm_handle(Comm::spawned);
  all.name = "MPI_COMM_PARENT";
  all.inter = true;
  all.remote_size = shape_.options().processes;
  all.at_ns += 200;
  define_communicator(all);
}

// The even and the odd ranks make an intercommunicator; the others of their world do not call.
void ProcessLog::join_halves(NewComm half) {
  half.parent = half.handle;
  half.handle = shape_.comm_handle(Comm::inter);
  half.function = MpiFunction::intercomm_create;
  half.ordinal = 1;
  half.name = shape_.comm_name(Comm::inter, rank_);
  half.inter = true;
  half.remote_leader = 1 - shape_.world_rank(rank_) % 2;
  half.remote_size = shape_.world_size(rank_) - half.size;
  half.group_hash = hash_of(shape_.seed(), kOfGroups, shape_.first_of_world(rank_)) | 1;
  half.at_ns += 6000;
  make_communicator(half, 3000);
}

void ProcessLog::define_window(std::int64_t at_ns) {
  const std::uint64_t world = shape_.comm_handle(Comm::world);
  lanes_[0].mpi(static_cast<std::uint16_t>(MpiFunction::win_create), at_ns, at_ns + 5000, world);
  log::Window record{};
  record.tick = clock_.tick(at_ns + 5000);
  record.handle = handle::kWindow;
  record.communicator = world;
  lanes_[0].define(record, RecordType::window, {}, at_ns + 5000);
}

}  // namespace uctrace::tracegen
