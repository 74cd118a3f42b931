// A communicator with its name and the world ranks of its members.
#pragma once

#include "common.h"

struct channel {
  MPI_Comm comm;
  const char* name;
  int rank, size;
  int* world;
};

static inline struct channel make_channel(MPI_Comm comm, const char* name) {
  struct channel channel = {.comm = comm, .name = name};
  MPI_Comm_rank(comm, &channel.rank);
  MPI_Comm_size(comm, &channel.size);
  channel.world = allocate(sizeof(int) * (size_t)channel.size);
  int* ranks = allocate(sizeof(int) * (size_t)channel.size);
  for (int i = 0; i < channel.size; ++i) ranks[i] = i;
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, channel.size, ranks, world, channel.world);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  free(ranks);
  return channel;
}

static inline struct channel name_channel(MPI_Comm comm, const char* name) {
  MPI_Comm_set_name(comm, name);
  return make_channel(comm, name);
}
