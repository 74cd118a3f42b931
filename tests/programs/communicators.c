// A communicator of each kind that an MPI can make, and a message on each. Names are those that
// uctrace gives: a letter, the world rank of its rank 0, and its ordinal at that process, which
// each process counts itself here.
//
//     communicators [TRUTH-PREFIX]

#include "numbered.h"

static MPI_Comm split_with_reversed_ranks(MPI_Comm comm) {
  MPI_Comm half;
  MPI_Comm_split(comm, world_rank % 2, -world_rank, &half);
  talk_on(half, 's');
  return half;
}

static void duplicate(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(comm, &copy);
  talk_on(copy, 'd');
  MPI_Comm_free(&copy);
  MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);  // may get the same handle
  talk_on(copy, 'e');
  MPI_Comm_free(&copy);
  MPI_Comm_idup(comm, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  talk_on(copy, 'i');
  MPI_Comm_free(&copy);
}

static void choose_members(void) {
  MPI_Comm chosen;
  MPI_Group world, evens, ends;
  int evens_range[1][3] = {{0, world_size - 1, 2}};
  const int last_and_first[2] = {world_size - 1, 0};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, evens_range, &evens);
  MPI_Comm_create(MPI_COMM_WORLD, evens, &chosen);
  talk_on(chosen, 'c');
  if (chosen != MPI_COMM_NULL) MPI_Comm_free(&chosen);
  MPI_Group_incl(world, 2, last_and_first, &ends);
  if (world_rank == 0 || world_rank == world_size - 1) {
    for (int round = 0; round < 2; ++round) {
      MPI_Comm_create_group(MPI_COMM_WORLD, ends, 3, &chosen);
      talk_on(chosen, 'u');
      MPI_Comm_free(&chosen);
    }
  }
  MPI_Group_free(&world);
  MPI_Group_free(&evens);
  MPI_Group_free(&ends);
}

static void lay_out(void) {
  MPI_Comm grid, line, graph;
  const int sizes[2] = {2, world_size / 2}, periods[2] = {0, 0}, kept[2] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  talk_on(grid, 'a');
  if (grid != MPI_COMM_NULL) {
    MPI_Cart_sub(grid, kept, &line);
    talk_on(line, 'b');
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
  }
  int* ends = allocate(sizeof(int) * (size_t)world_size);
  int* next = allocate(sizeof(int) * (size_t)world_size);
  for (int i = 0; i < world_size; ++i) {
    ends[i] = i + 1;
    next[i] = (i + 1) % world_size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, world_size, ends, next, 0, &graph);
  talk_on(graph, 'r');
  MPI_Comm_free(&graph);
  const int one = 1, to = (world_rank + 1) % world_size;
  const int from = (world_rank + world_size - 1) % world_size;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &one, &to, &one, MPI_INFO_NULL, 0, &graph);
  talk_on(graph, 'g');
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &one, 1, &to, &one, MPI_INFO_NULL, 0,
                                 &graph);
  talk_on(graph, 'j');
  MPI_Comm_free(&graph);
  free(ends);
  free(next);
}

static void connect_halves(MPI_Comm half) {
  MPI_Comm between, copy, all;
  const int remote_leader = world_size - 1 - (world_rank % 2 == (world_size - 1) % 2);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote_leader, 9, &between);
  talk_on(between, 'I');
  MPI_Comm_dup(between, &copy);
  talk_on(copy, 'd');
  MPI_Comm_free(&copy);
  MPI_Intercomm_merge(between, world_rank % 2, &all);
  talk_on(all, 'm');
  MPI_Comm_free(&all);
  MPI_Comm_free(&between);
}

int main(int argc, char** argv) {
  MPI_Comm own, near, of_self;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  open_truth(argc > 1 ? argv[1] : NULL, world_rank);
  if (world_rank % 2 == 0) {  // so that processes count differently
    MPI_Comm_dup(MPI_COMM_SELF, &of_self);
    talk_on(of_self, 'd');
    MPI_Comm_free(&of_self);
  }
  MPI_Comm half = split_with_reversed_ranks(MPI_COMM_WORLD);
  MPI_Comm_split(half, 0, world_rank, &own);
  talk_on(own, 's');
  MPI_Comm_free(&own);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  talk_on(near, 't');
  MPI_Comm_free(&near);
  duplicate(MPI_COMM_WORLD);
  choose_members();
  lay_out();
  connect_halves(half);
  MPI_Comm_free(&half);
  flush_truth();
  MPI_Finalize();
  close_truth();
  return 0;
}
