#include "mpi-attribution/counted_comms.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "event-log/recorder/address_map.hpp"
#include "event-log/recorder/counters.hpp"
#include "interpose/fork_lock.hpp"
#include "mpi-attribution/rank_runs.hpp"

namespace uctrace::mpi {
namespace {

constexpr std::size_t kMostHandles = std::size_t{1} << 16;
constinit log::AddressMap<CountedComm*, kMostHandles> comms;
constinit log::AddressMap<CountedComm*, kMostHandles> windows;

constinit interpose::ForkLock making;
constinit CountedComm* free_comms = nullptr;
constinit std::uint32_t next_number = 0;

const void* key_of(Handle handle) { return reinterpret_cast<const void*>(handle); }

// The job's memory allocator must not be called in the middle of its MPI.
void* take_pages(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

CountedComm* take_entry() {
  const interpose::Held held(making);
  if (free_comms == nullptr) {
    constexpr std::size_t kBytes = 64 * 1024;
    auto* made = static_cast<CountedComm*>(take_pages(kBytes));
    if (made == nullptr) return nullptr;
    for (std::size_t i = 0; i < kBytes / sizeof *made; ++i) {
      made[i].next_free = free_comms;
      free_comms = &made[i];
    }
  }
  CountedComm* entry = free_comms;
  free_comms = entry->next_free;
  *entry = {};
  entry->number = next_number++;
  entry->users = 1;
  return entry;
}

void release(CountedComm* comm) {
  if (__atomic_sub_fetch(&comm->users, 1, __ATOMIC_ACQ_REL) != 0) return;
  if (comm->list_bytes != 0) {
    const std::int32_t* lists = comm->ranks != nullptr ? comm->ranks : comm->neighbor_ranks;
    munmap(const_cast<std::int32_t*>(lists), comm->list_bytes);
  }
  const interpose::Held held(making);
  comm->next_free = free_comms;
  free_comms = comm;
}

// --- asking the library --------------------------------------------------------------------------

int neighbor_count(Handle comm, std::int32_t rank, std::int32_t topology) {
  int count = 0, in = 0, weighted = 0;
  if (topology == library.cartesian) {
    library.ask.cartdim_get(comm, &count);
    return 2 * count;
  }
  if (topology == library.graph) library.ask.graph_neighbors_count(comm, rank, &count);
  if (topology == library.distributed_graph) {
    library.ask.dist_graph_neighbors_count(comm, &in, &count, &weighted);
  }
  return count;
}

// As many as neighbor_count() says, in the order of neighborhood collectives.
void ask_neighbors(Handle comm, const CountedComm& of, std::int32_t topology, std::int32_t* out,
                   std::int32_t* spare, std::int32_t spares) {
  const Neighbors& ask = library.neighbors;
  if (topology == library.cartesian) {
    for (int dimension = 0; 2 * dimension < of.neighbors; ++dimension) {
      ask.cart_shift(comm, dimension, 1, &out[2 * dimension], &out[2 * dimension + 1]);
    }
  } else if (topology == library.graph) {
    ask.graph_neighbors(comm, of.rank, of.neighbors, out);
  } else {
    ask.dist_graph_neighbors(comm, spares, spare, spare + spares, of.neighbors, out,
                             spare + 2 * spares);
  }
}

struct Topology {
  std::int32_t kind = 0, in = 0;
  bool known = false;
};

Topology topology_of(Handle members, CountedComm& comm) {
  Topology topology;
  if (comm.inter || library.neighbors.cart_shift == nullptr) return topology;
  library.ask.topo_test(members, &topology.kind);
  comm.neighbors = neighbor_count(members, comm.rank, topology.kind);
  if (topology.kind == library.distributed_graph) {
    int out = 0, weighted = 0;
    library.ask.dist_graph_neighbors_count(members, &topology.in, &out, &weighted);
  }
  topology.known = comm.neighbors > 0;
  return topology;
}

// Ranks in MPI_COMM_WORLD of a group, into `out`.
void translate(Word group, int size, Word world_group, std::int32_t* out) {
  constexpr int kChunk = 512;
  int ranks[kChunk];
  for (int begin = 0; begin < size; begin += kChunk) {
    const int some = size - begin < kChunk ? size - begin : kChunk;
    for (int i = 0; i < some; ++i) ranks[i] = begin + i;
    library.ask.group_translate_ranks(group, some, ranks, world_group, out + begin);
    for (int i = begin; i < begin + some; ++i) {
      if (out[i] == library.undefined) out[i] = -1;
    }
  }
}

void name_members(CountedComm& comm, const std::int32_t* ranks) {
  RankRuns runs;
  bool complete = true;
  for (std::int32_t i = 0; i < comm.size && complete; ++i) {
    complete = ranks[i] >= 0 && runs.append(ranks[i]);
  }
  comm.is_named = complete;
  if (complete && runs.count() == 1) {
    comm.first = runs.data()->first;
    comm.stride = runs.data()->stride;
  }
  const std::uint64_t value = static_cast<std::uint32_t>(comm.size) |
                              (comm.inter ? log::kCommunicatorInter : 0) |
                              (complete ? 0 : log::kMembersUnknown);
  log::name_counter(log::CounterNameKind::communicator, comm.number, value, runs.data(),
                    complete ? runs.bytes() / sizeof(std::uint64_t) : 0);
  comm.ranks = complete && runs.count() == 1 ? nullptr : ranks;
}

// False: there is no memory.
bool describe(CountedComm& comm, Handle members, Word world_group) {
  int inter = 0, rank = 0;
  Word group = 0;
  library.ask.comm_test_inter(members, &inter);
  library.ask.comm_rank(members, &rank);
  comm.inter = inter != 0;
  comm.rank = rank;
  (comm.inter ? library.ask.comm_remote_group : library.ask.comm_group)(members, &group);
  library.ask.group_size(group, &comm.size);
  const Topology topology = topology_of(members, comm);
  const std::size_t words =
      static_cast<std::size_t>(comm.size) + static_cast<std::size_t>(comm.neighbors);
  const std::size_t bytes = words * sizeof(std::int32_t);
  const std::size_t spare_bytes =
      (2 * static_cast<std::size_t>(topology.in) + static_cast<std::size_t>(comm.neighbors)) *
      sizeof(std::int32_t);
  auto* lists = static_cast<std::int32_t*>(take_pages(bytes + spare_bytes));
  if (lists != nullptr) {
    comm.list_bytes = bytes + spare_bytes;
    translate(group, comm.size, world_group, lists);
    std::int32_t* const neighbors = lists + comm.size;
    if (topology.known) {
      ask_neighbors(members, comm, topology.kind, neighbors, neighbors + comm.neighbors,
                    topology.in);
      comm.neighbor_ranks = neighbors;
    }
    name_members(comm, lists);
    if (comm.ranks == nullptr && comm.neighbor_ranks != nullptr) comm.ranks = lists;
    if (comm.ranks == nullptr) {
      munmap(lists, comm.list_bytes);
      comm.list_bytes = 0;
    }
  }
  library.ask.group_free(&group);
  return lists != nullptr;
}

template <typename Map>
void forget(Map& map, Handle handle) {
  auto* entry = map.find(key_of(handle));
  if (entry == nullptr) return;
  CountedComm* comm = entry->value;
  map.free(entry);
  release(comm);
}

template <typename Map>
const CountedComm* find(Map& map, Handle handle) {
  const auto* entry = map.find(key_of(handle));
  return entry != nullptr ? entry->value : nullptr;
}

template <typename Map>
void keep(Map& map, Handle handle, CountedComm* comm) {
  forget(map, handle);
  if (auto* entry = map.claim(key_of(handle))) {
    entry->value = comm;
  } else {
    release(comm);
  }
}

}  // namespace

void count_communicator(Handle handle, Handle members, Word world_group) {
  CountedComm* comm = log::counts() && world_group != 0 ? take_entry() : nullptr;
  if (comm == nullptr) return;
  if (describe(*comm, members, world_group)) {
    keep(comms, handle, comm);
  } else {
    release(comm);
  }
}

void name_counted(Handle handle, const char* name) {
  if (const CountedComm* comm = counted_comm(handle)) {
    std::uint64_t words[17]{};  // MPI_MAX_OBJECT_NAME is 64 or 128
    const std::size_t length = strnlen(name, sizeof words - 1);
    std::memcpy(words, name, length);
    log::name_counter(log::CounterNameKind::communicator_label, comm->number, 0, words,
                      (length + sizeof *words - 1) / sizeof *words);
  }
}

void forget_counted(Handle handle) { forget(comms, handle); }

void count_window(Handle window, Handle communicator) {
  auto* comm = const_cast<CountedComm*>(counted_comm(communicator));
  if (comm == nullptr) return;
  __atomic_add_fetch(&comm->users, 1, __ATOMIC_ACQ_REL);
  keep(windows, window, comm);
}

void forget_counted_window(Handle window) { forget(windows, window); }

const CountedComm* counted_comm(Handle handle) { return find(comms, handle); }
const CountedComm* counted_window(Handle window) { return find(windows, window); }

}  // namespace uctrace::mpi
