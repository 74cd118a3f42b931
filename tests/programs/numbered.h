// A message on a new communicator, whose name is known to each of its processes: they count what they
// make.
#pragma once

#include "common.h"

static int world_rank, world_size, made;

static inline int world_rank_of(MPI_Comm comm, int remote) {
  MPI_Group group, world;
  int zero = 0, rank;
  if (remote) {
    MPI_Comm_remote_group(comm, &group);
  } else {
    MPI_Comm_group(comm, &group);
  }
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &zero, world, &rank);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return rank;
}

// The first process sends to the last one, or that of the other side.
static inline void talk_on(MPI_Comm comm, char letter) {
  int rank, size, inter;
  if (comm == MPI_COMM_NULL) return;
  ++made;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_test_inter(comm, &inter);
  if (inter) MPI_Comm_remote_size(comm, &size);
  if (size == 1 && !inter) return;
  unsigned char buffer[2000];
  const int first = world_rank_of(comm, 0), to = inter ? 0 : size - 1;
  const int sends = rank == 0 && (!inter || first < world_rank_of(comm, 1));
  const int receives = inter ? rank == 0 && !sends : rank == size - 1;
  if (sends) {
    char name[32];
    snprintf(name, sizeof name, "%c%d.%d", letter, first, made);
    fill(buffer, sizeof buffer, (uint64_t)letter);
    MPI_Send(buffer, sizeof buffer, MPI_BYTE, to, 7, comm);
    MPI_Group theirs, world;
    int peer;
    (inter ? MPI_Comm_remote_group : MPI_Comm_group)(comm, &theirs);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(theirs, 1, &to, world, &peer);
    MPI_Group_free(&theirs);
    MPI_Group_free(&world);
    write_truth((struct sent){.src = world_rank,
                              .dst = peer,
                              .bytes = sizeof buffer,
                              .tag = 7,
                              .function = "MPI_Send",
                              .comm = name});
  }
  if (receives) {
    MPI_Recv(buffer, sizeof buffer, MPI_BYTE, 0, 7, comm, MPI_STATUS_IGNORE);
    if (!holds(buffer, sizeof buffer, (uint64_t)letter)) fail("%c: wrong contents", letter);
  }
}
