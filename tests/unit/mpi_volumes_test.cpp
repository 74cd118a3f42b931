// The volumes of collective operations, with an MPI library that has the communicators below.
#include <doctest/doctest.h>

#include "mpi-attribution/ask_datatype.hpp"
#include "mpi-attribution/volumes.hpp"

namespace uctrace::mpi {
namespace {

// The remote size of an intracommunicator must not be queried.
struct Communicator {
  int rank, size, remote_size;
  int topology, dimensions, in, out;
};
constexpr int kCartesian = 1, kGraph = 2, kDistributed = 3;
constexpr Communicator kCommunicators[] = {
    {2, 4, 0, 0, 0, 0, 0},             // plain
    {0, 4, 0, 0, 0, 0, 0},             // rank 0 of it
    {1, 2, 5, 0, 0, 0, 0},             // an intercommunicator
    {2, 4, 0, kCartesian, 3, 0, 0},    // six neighbours
    {2, 4, 0, kGraph, 0, 3, 3},        //
    {2, 4, 0, kDistributed, 0, 2, 1},  // two that send to it, one that it sends to
};
enum : Handle { kPlain, kFirst, kInter, kCube, kNet, kDirected };

const Communicator& of(Word handle) { return kCommunicators[handle]; }

int test_inter(Word comm, int* flag) { return *flag = of(comm).remote_size != 0, 0; }
int rank(Word comm, int* rank) { return *rank = of(comm).rank, 0; }
int size(Word comm, int* size) { return *size = of(comm).size, 0; }
int remote_size(Word comm, int* size) {
  REQUIRE(of(comm).remote_size != 0);
  return *size = of(comm).remote_size, 0;
}
int topology(Word comm, int* topology) { return *topology = of(comm).topology, 0; }
int dimensions(Word comm, int* dimensions) {
  REQUIRE(of(comm).topology == kCartesian);
  return *dimensions = of(comm).dimensions, 0;
}
int graph_neighbors(Word comm, int rank, int* count) {
  REQUIRE(of(comm).topology == kGraph);
  REQUIRE(rank == of(comm).rank);
  return *count = of(comm).in, 0;
}
int directed_neighbors(Word comm, int* in, int* out, int* weighted) {
  REQUIRE(of(comm).topology == kDistributed);
  return *in = of(comm).in, *out = of(comm).out, *weighted = 0, 0;
}
// A datatype is its size.
int type_size(Word datatype, std::int64_t* size) {
  REQUIRE(datatype <= 100);
  return *size = static_cast<std::int64_t>(datatype), 0;
}

constexpr Word kInPlace = 1, kRoot = static_cast<Word>(-4), kNobody = static_cast<Word>(-2);
constexpr Word kNotToBeRead = 0xdead;  // as an address, or as a datatype

void set_library() {
  library.handle_mask = ~Word{0};
  library.in_place = kInPlace;
  library.root = -4;
  library.proc_null = -2;
  library.cartesian = kCartesian;
  library.graph = kGraph;
  library.distributed_graph = kDistributed;
  library.datatype_null = 0xf000;
  library.ask.comm_test_inter = test_inter;
  library.ask.comm_rank = rank;
  library.ask.comm_size = size;
  library.ask.comm_remote_size = remote_size;
  library.ask.topo_test = topology;
  library.ask.cartdim_get = dimensions;
  library.ask.graph_neighbors_count = graph_neighbors;
  library.ask.dist_graph_neighbors_count = directed_neighbors;
  library.ask.type_size_x = type_size;
}

struct Call : UctraceCollective {
  Call(UctraceVolumeRule rule_in, Handle comm, Word root_in = 0) : UctraceCollective{} {
    set_library();
    call.scope = comm;
    rule = rule_in;
    root = root_in;
  }
  Call& sends(Word count, Word datatype) {
    return send.count = count, send.datatype = datatype, *this;
  }
  Call& receives(Word count, Word datatype) {
    return receive.count = count, receive.datatype = datatype, *this;
  }
  Call& sends_counts(const int* counts, Word datatype) {
    return send.counts = reinterpret_cast<Word>(counts), send.datatype = datatype, *this;
  }
  Call& receives_counts(const int* counts, Word datatype) {
    return receive.counts = reinterpret_cast<Word>(counts), receive.datatype = datatype, *this;
  }
  Call& sends_in_place() {
    return sends(kNotToBeRead, kNotToBeRead), send.buffer = kInPlace, *this;
  }
  Call& receives_in_place() {
    return receives(kNotToBeRead, kNotToBeRead), receive.buffer = kInPlace, *this;
  }
  void moves(std::uint64_t bytes, std::uint64_t recv_bytes) const {
    const Volume volume = volume_of(*this);
    CHECK(volume.bytes == bytes);
    CHECK(volume.recv_bytes == recv_bytes);
  }
};

constexpr int kCounts[] = {1, 2, 3, 4, 5};  // 10 for four processes, 15 for five

TEST_CASE("a barrier moves nothing, and a communicator that is gone is not asked") {
  Call(kUctraceNoVolume, kNotToBeRead).moves(0, 0);
}

TEST_CASE("to and from a root") {
  Call(kUctraceBcast, kPlain, 2).sends(10, 8).moves(80, 0);
  Call(kUctraceBcast, kPlain, 0).sends(10, 8).moves(0, 80);
  Call(kUctraceReduce, kPlain, 2).sends(10, 8).moves(80, 80);
  Call(kUctraceReduce, kPlain, 0).sends(10, 8).moves(80, 0);
  Call(kUctraceGather, kPlain, 2).sends(10, 8).receives(20, 4).moves(80, 4 * 80);
  Call(kUctraceGather, kPlain, 0).sends(10, 8).receives(kNotToBeRead, kNotToBeRead).moves(80, 0);
  Call(kUctraceGatherv, kPlain, 2).sends(3, 8).receives_counts(kCounts, 8).moves(24, 80);
  Call(kUctraceGatherv, kPlain, 0).sends(3, 8).moves(24, 0);
  Call(kUctraceScatter, kPlain, 2).sends(10, 8).receives(20, 4).moves(4 * 80, 80);
  Call(kUctraceScatter, kPlain, 0).sends(kNotToBeRead, kNotToBeRead).receives(20, 4).moves(0, 80);
  Call(kUctraceScatterv, kPlain, 2).sends_counts(kCounts, 8).receives(3, 8).moves(80, 24);
  Call(kUctraceScatterv, kPlain, 0).receives(1, 8).moves(0, 8);
}

TEST_CASE("to and from a root in place: its own part is what the others' parts are") {
  Call(kUctraceGather, kPlain, 2).sends_in_place().receives(20, 4).moves(80, 4 * 80);
  Call(kUctraceGatherv, kPlain, 2).sends_in_place().receives_counts(kCounts, 8).moves(24, 80);
  Call(kUctraceScatter, kPlain, 2).sends(10, 8).receives_in_place().moves(4 * 80, 80);
  Call(kUctraceScatterv, kPlain, 2).sends_counts(kCounts, 8).receives_in_place().moves(80, 24);
}

TEST_CASE("to and from a root of the other group") {
  Call(kUctraceBcast, kInter, kRoot).sends(10, 8).moves(80, 0);
  Call(kUctraceBcast, kInter, kNobody).sends(10, 8).moves(0, 0);
  Call(kUctraceBcast, kInter, 1).sends(10, 8).moves(0, 80);  // not itself, though it is rank 1
  Call(kUctraceReduce, kInter, kRoot).sends(10, 8).moves(0, 80);
  Call(kUctraceReduce, kInter, kNobody).sends(10, 8).moves(0, 0);
  Call(kUctraceReduce, kInter, 1).sends(10, 8).moves(80, 0);
  Call(kUctraceGather, kInter, kRoot).receives(10, 8).moves(0, 5 * 80);
  Call(kUctraceGatherv, kInter, kRoot).receives_counts(kCounts, 8).moves(0, 120);
  Call(kUctraceGather, kInter, kNobody).moves(0, 0);
  Call(kUctraceScatter, kInter, kRoot).sends(10, 8).moves(5 * 80, 0);
  Call(kUctraceScatterv, kInter, kRoot).sends_counts(kCounts, 8).moves(120, 0);
  Call(kUctraceScatter, kInter, 0).receives(10, 8).moves(0, 80);
}

TEST_CASE("reductions of all") {
  Call(kUctraceAllreduce, kPlain).sends(10, 8).moves(80, 80);
  Call(kUctraceExscan, kPlain).sends(10, 8).moves(80, 80);
  Call(kUctraceExscan, kFirst).sends(10, 8).moves(80, 0);
  Call block(kUctraceReduceScatterBlock, kPlain);
  block.receive.count = 10;
  block.send.datatype = 8;
  block.moves(4 * 80, 80);
  Call counts(kUctraceReduceScatter, kPlain);
  counts.receive.counts = reinterpret_cast<Word>(kCounts);
  counts.send.datatype = 8;
  counts.moves(80, 24);
  counts.call.scope = kInter;  // counts are of the processes of its own group
  counts.moves(24, 16);
}

TEST_CASE("from all to all") {
  Call(kUctraceAllgather, kPlain).sends(10, 8).receives(20, 4).moves(80, 4 * 80);
  Call(kUctraceAllgather, kPlain).sends_in_place().receives(20, 4).moves(80, 4 * 80);
  Call(kUctraceAllgather, kInter).sends(1, 8).receives(2, 8).moves(8, 5 * 16);
  Call(kUctraceAllgatherv, kPlain).sends(3, 8).receives_counts(kCounts, 8).moves(24, 80);
  Call(kUctraceAllgatherv, kPlain).sends_in_place().receives_counts(kCounts, 8).moves(24, 80);
  Call(kUctraceAlltoall, kPlain).sends(10, 8).receives(20, 4).moves(4 * 80, 4 * 80);
  Call(kUctraceAlltoall, kInter).sends(10, 8).receives(5, 8).moves(5 * 80, 5 * 40);
  Call(kUctraceAlltoall, kPlain).sends_in_place().receives(20, 4).moves(4 * 80, 4 * 80);
  Call(kUctraceAlltoallv, kPlain)
      .sends_counts(kCounts, 8)
      .receives_counts(kCounts + 1, 4)
      .moves(80, 14 * 4);
  Call(kUctraceAlltoallv, kPlain).sends_in_place().receives_counts(kCounts, 4).moves(40, 40);
}

TEST_CASE("a datatype for each process; one that gets nothing may have none") {
  constexpr int kSome[] = {1, 0, 3, 4};
  constexpr Word kTypes[] = {8, kNotToBeRead, 2, 1};
  Call call(kUctraceAlltoallw, kPlain);
  call.send.counts = call.receive.counts = reinterpret_cast<Word>(kSome);
  call.send.datatypes = call.receive.datatypes = reinterpret_cast<Word>(kTypes);
  call.moves(8 + 6 + 4, 8 + 6 + 4);
}

TEST_CASE("neighbours, as many as the topology says") {
  Call(kUctraceNeighborAllgather, kCube).sends(1, 8).receives(2, 4).moves(8, 6 * 8);
  Call(kUctraceNeighborAllgather, kNet).sends(1, 8).receives(2, 4).moves(8, 3 * 8);
  Call(kUctraceNeighborAllgather, kDirected).sends(1, 8).receives(2, 4).moves(8, 2 * 8);
  Call(kUctraceNeighborAllgather, kPlain).sends(1, 8).receives(2, 4).moves(8, 0);
  Call(kUctraceNeighborAllgatherv, kDirected).sends(1, 8).receives_counts(kCounts, 4).moves(8, 12);
  Call(kUctraceNeighborAlltoall, kDirected).sends(1, 8).receives(2, 4).moves(8, 2 * 8);
  Call(kUctraceNeighborAlltoallv, kDirected)
      .sends_counts(kCounts, 8)
      .receives_counts(kCounts, 4)
      .moves(8, 12);
}

TEST_CASE("what a failed inquiry leaves open counts as nothing") {
  Call call(kUctraceBcast, kPlain, 2);
  call.sends(10, 8);
  library.ask.type_size_x = [](Word, std::int64_t*) { return 1; };
  call.moves(0, 0);
  call.send.datatype = library.datatype_null;
  call.moves(0, 0);
  set_library();
  call.sends(static_cast<Word>(-5), 8).moves(0, 0);
}

// The number of size queries to MPI.
int sizes_asked = 0;
int named_below = 0;  // handles from here on are of datatypes that the program made

int counted_size(Word datatype, std::int64_t* bytes) {
  ++sizes_asked;
  return *bytes = static_cast<std::int64_t>(datatype), 0;
}
int envelope(Word datatype, int*, int*, int*, int* combiner) {
  *combiner = datatype < static_cast<Word>(named_below) ? 0 : 1;
  return 0;
}

TEST_CASE("the size of a datatype of MPI itself is asked once, of the program's each time") {
  set_library();
  static constexpr std::int32_t kCombiners[kUctraceCombiners] = {0, 1};
  library.combiners = kCombiners;
  library.describing.type_get_envelope = envelope;
  library.can_describe = true;
  library.ask.type_size_x = counted_size;
  named_below = 100;
  sizes_asked = 0;
  for (int round = 0; round < 3; ++round) CHECK(element_bytes(40) == 40);
  CHECK(sizes_asked == 1);
  for (int round = 0; round < 3; ++round) CHECK(element_bytes(120) == 120);
  CHECK(sizes_asked == 4);

  // Two handles of one place: the second one is asked for each time, and neither gets the other's.
  Handle other = 41;
  while (&detail::size_place(other) != &detail::size_place(40)) ++other;
  named_below = 1 << 20;
  sizes_asked = 0;
  for (int round = 0; round < 3; ++round) {
    CHECK(element_bytes(other) == static_cast<std::int64_t>(other));
    CHECK(element_bytes(40) == 40);
  }
  CHECK(sizes_asked == 3);
  CHECK(element_bytes(library.datatype_null) == -1);

  library.ask.type_size_x = [](Word, std::int64_t*) { return 1; };
  CHECK(element_bytes(77) == -1);
  library.ask.type_size_x = counted_size;
  CHECK(element_bytes(77) == 77);  // a failed query is not cached
  library.can_describe = false;
}

TEST_CASE("counts of partitions have as many bits as the library reads") {
  set_library();
  constexpr Word kMuch = Word{1} << 33 | 5, kNegative = 0xfffffffbu;
  library.int_partitions = false;
  CHECK(uctrace_mpi_product(3, kMuch, false) == 3 * kMuch);
  library.int_partitions = true;  // and what lies above an int is not defined
  CHECK(uctrace_mpi_product(3, kMuch, false) == 15);
  CHECK(uctrace_mpi_product(3, kNegative, false) == 0);
  CHECK(uctrace_mpi_product(3, kMuch, true) == 3 * kMuch);
  CHECK(uctrace_mpi_product(static_cast<Word>(-1), 4, true) == 0);
  set_library();
}

}  // namespace
}  // namespace uctrace::mpi
