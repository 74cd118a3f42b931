// Every collective operation of the communicator, blocking and not, with counts and datatypes that
// make all its data distinguishable; what each process passes in and gets is written as truth.
// Contents do not matter here. Any number of ranks from 2 on.
//
//     volumes TRUTH-PREFIX

#include "common.h"

enum { kCount = 6, kMost = 64, kRoot = 1 };

static MPI_Comm comm;
static int rank, size;
static MPI_Datatype triple;  // 12 bytes
static int out[kMost * kMost], in[kMost * kMost];
static int counts[kMost], places[kMost], byte_places[kMost];
static MPI_Datatype types[kMost];
static MPI_Request request;

// What the next call moves. `root` as its record has it: -2 none, -3 this process; -1: the call has
// no root.
static void expect(const char* function, int root, long bytes, long recv_bytes) {
  fprintf(truth_file, "{\"function\":\"MPI_%s\",\"root\":%d,\"bytes\":%ld,\"recv_bytes\":%ld}\n",
          function, root, bytes, recv_bytes);
}

static void wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

// Counts 1, 2, ... of all processes together.
static int sum(void) { return size * (size + 1) / 2; }

static void rooted(void) {
  const int is_root = rank == kRoot;
  const long own = kCount * 12, all = size * own;
  expect("Bcast", kRoot, is_root ? own : 0, is_root ? 0 : own);
  MPI_Bcast(out, kCount, triple, kRoot, comm);
  expect("Ibcast", kRoot, is_root ? own : 0, is_root ? 0 : own);
  MPI_Ibcast(out, kCount, triple, kRoot, comm, &request);
  wait();
  expect("Reduce", kRoot, kCount * 4, is_root ? kCount * 4 : 0);
  MPI_Reduce(out, in, kCount, MPI_INT, MPI_SUM, kRoot, comm);
  expect("Gather", kRoot, own, is_root ? all : 0);
  MPI_Gather(out, kCount, triple, in, 3 * kCount, MPI_INT, kRoot, comm);
  expect("Gather", kRoot, own, is_root ? all : 0);  // what recvcount and recvtype are elsewhere
  MPI_Gather(out, kCount, triple, is_root ? in : NULL, is_root ? kCount : -7,
             is_root ? triple : MPI_DATATYPE_NULL, kRoot, comm);
  expect("Gather", kRoot, own, is_root ? all : 0);
  MPI_Gather(is_root ? MPI_IN_PLACE : out, kCount, triple, in, kCount, triple, kRoot, comm);
  expect("Gatherv", kRoot, (rank + 1) * 4, is_root ? sum() * 4 : 0);
  MPI_Gatherv(out, rank + 1, MPI_INT, in, is_root ? counts : NULL, is_root ? places : NULL, MPI_INT,
              kRoot, comm);
  expect("Gatherv", kRoot, (rank + 1) * 4, is_root ? sum() * 4 : 0);
  MPI_Gatherv(is_root ? MPI_IN_PLACE : out, rank + 1, MPI_INT, in, counts, places, MPI_INT, kRoot,
              comm);
  expect("Scatter", kRoot, is_root ? all : 0, own);
  MPI_Scatter(out, 3 * kCount, MPI_INT, in, kCount, triple, kRoot, comm);
  expect("Scatter", kRoot, is_root ? all : 0, own);
  MPI_Scatter(out, kCount, triple, is_root ? MPI_IN_PLACE : in, kCount, triple, kRoot, comm);
  expect("Iscatterv", kRoot, is_root ? sum() * 4 : 0, (rank + 1) * 4);
  MPI_Iscatterv(out, is_root ? counts : NULL, is_root ? places : NULL, MPI_INT, in, rank + 1,
                MPI_INT, kRoot, comm, &request);
  wait();
}

static void reductions(void) {
  expect("Allreduce", -1, kCount * 8, kCount * 8);
  MPI_Allreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, comm);
  expect("Allreduce", -1, kCount * 8, kCount * 8);
  MPI_Allreduce(MPI_IN_PLACE, in, kCount, MPI_DOUBLE, MPI_SUM, comm);
  expect("Iallreduce", -1, kCount * 8, kCount * 8);
  MPI_Iallreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, comm, &request);
  wait();
  expect("Scan", -1, kCount * 4, kCount * 4);
  MPI_Scan(out, in, kCount, MPI_INT, MPI_SUM, comm);
  expect("Exscan", -1, kCount * 4, rank == 0 ? 0 : kCount * 4);
  MPI_Exscan(out, in, kCount, MPI_INT, MPI_SUM, comm);
  expect("Reduce_scatter", -1, sum() * 4, (rank + 1) * 4);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
  expect("Reduce_scatter_block", -1, size * kCount * 4, kCount * 4);
  MPI_Reduce_scatter_block(out, in, kCount, MPI_INT, MPI_SUM, comm);
}

static void of_all(void) {
  const long own = kCount * 12, all = size * own;
  expect("Barrier", -1, 0, 0);
  MPI_Barrier(comm);
  expect("Allgather", -1, own, all);
  MPI_Allgather(out, kCount, triple, in, 3 * kCount, MPI_INT, comm);
  expect("Allgather", -1, own, all);
  MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, kCount, triple, comm);
  expect("Allgatherv", -1, (rank + 1) * 4, sum() * 4);
  MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, comm);
  expect("Alltoall", -1, all, all);
  MPI_Alltoall(out, kCount, triple, in, 3 * kCount, MPI_INT, comm);
  expect("Ialltoall", -1, all, all);
  MPI_Ialltoall(out, kCount, triple, in, kCount, triple, comm, &request);
  wait();
  // Process i gets i + 1 elements of each, this one rank + 1 of them.
  int wanted[kMost], at[kMost], byte_at[kMost];
  for (int i = 0; i < size; ++i) {
    wanted[i] = rank + 1;
    at[i] = i * (rank + 1);
    byte_at[i] = 4 * at[i];
  }
  expect("Alltoallv", -1, sum() * 4, size * (rank + 1) * 4);
  MPI_Alltoallv(out, counts, places, MPI_INT, in, wanted, at, MPI_INT, comm);
  expect("Alltoallw", -1, sum() * 4, size * (rank + 1) * 4);
  MPI_Alltoallw(out, counts, byte_places, types, in, wanted, byte_at, types, comm);
}

// Each process sends to the next one only.
static void neighbours(void) {
  const int from = (rank + size - 1) % size, to = (rank + 1) % size, weight = 1, no = 0;
  const MPI_Comm world = comm;
  MPI_Dist_graph_create_adjacent(world, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0,
                                 &comm);
  expect("Neighbor_allgather", -1, kCount * 12, kCount * 12);
  MPI_Neighbor_allgather(out, kCount, triple, in, kCount, triple, comm);
  expect("Neighbor_alltoall", -1, kCount * 12, kCount * 12);
  MPI_Neighbor_alltoall(out, kCount, triple, in, kCount, triple, comm);
  const int few = 2, at = 0;
  expect("Neighbor_alltoallv", -1, few * 4, few * 4);
  MPI_Neighbor_alltoallv(out, &few, &at, MPI_INT, in, &few, &at, MPI_INT, comm);
  MPI_Comm_free(&comm);
  // A ring in one dimension has two neighbours.
  MPI_Cart_create(world, 1, &size, &(int){1}, no, &comm);
  expect("Neighbor_alltoall", -1, 2 * kCount * 4, 2 * kCount * 4);
  MPI_Neighbor_alltoall(out, kCount, MPI_INT, in, kCount, MPI_INT, comm);
  MPI_Comm_free(&comm);
  comm = world;
}

// Even and odd ranks; rank 0 of the world is the root.
static void between_groups(void) {
  const int odd = rank % 2, others = odd ? (size + 1) / 2 : size / 2;
  MPI_Comm group, both;
  MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, !odd, 5, &both);
  const int root = odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  const int shown = odd ? 0 : rank == 0 ? -3 : -2;
  const long data = kCount * 4;
  expect("Bcast", shown, rank == 0 ? data : 0, odd ? data : 0);
  MPI_Bcast(out, kCount, MPI_INT, root, both);
  expect("Reduce", shown, odd ? data : 0, rank == 0 ? data : 0);
  MPI_Reduce(out, in, kCount, MPI_INT, MPI_SUM, root, both);
  expect("Allgather", -1, data, others * data);
  MPI_Allgather(out, kCount, MPI_INT, in, kCount, MPI_INT, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&group);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (argc < 2 || size < 2 || size > kMost) fail("usage: volumes TRUTH-PREFIX, on 2 to 64 ranks");
  open_truth(argv[1], rank);
  MPI_Type_contiguous(3, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  for (int i = 0; i < size; ++i) {
    counts[i] = i + 1;
    places[i] = i * (i + 1) / 2;
    byte_places[i] = 4 * places[i];
    types[i] = MPI_INT;
  }
  rooted();
  reductions();
  of_all();
  neighbours();
  between_groups();
  MPI_Type_free(&triple);
  close_truth();
  MPI_Finalize();
  return 0;
}
