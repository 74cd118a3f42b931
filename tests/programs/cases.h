// Programs of cases in which ranks talk in blocking calls on one communicator while operations on two
// others are in progress, with the same peers and tags. They differ only in those operations.
#pragma once

#include <pthread.h>

#include "channel.h"
#include "common.h"

enum { kTag = 5, kRounds = 3 };

static struct channel a, b, talk;
static int rank, size, next, previous;

static inline uint64_t seed_of(int src, int dst, size_t bytes) {
  return (uint64_t)(src * 100 + dst) << 32 | bytes;
}

static inline void expect(const unsigned char* buffer, int src, int dst, size_t bytes) {
  if (!holds(buffer, bytes, seed_of(src, dst, bytes))) {
    fail("wrong contents, %zu bytes from %d for %d", bytes, src, dst);
  }
}

static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;
static const char* truth_prefix;

static inline void sent(const struct channel* channel, const char* function, int dst, size_t bytes,
                 int tag) {
  pthread_mutex_lock(&truth_lock);
  write_truth((struct sent){.src = rank,
                            .dst = dst,
                            .bytes = bytes,
                            .tag = tag,
                            .function = function,
                            .comm = channel->name});
  pthread_mutex_unlock(&truth_lock);
}

// Blocking calls with every peer in turn; the lower rank of a pair sends first.
static inline void talk_with_all(size_t bytes) {
  unsigned char *out = allocate(bytes), *in = allocate(bytes);
  for (int turn = 0; turn < 2 * size; ++turn) {
    const int peer = turn / 2;
    if (peer == rank) continue;
    if ((rank < peer) == (turn % 2 == 0)) {
      fill(out, bytes, seed_of(rank, peer, bytes));
      MPI_Send(out, (int)bytes, MPI_BYTE, peer, kTag, talk.comm);
      sent(&talk, "MPI_Send", peer, bytes, kTag);
    } else {
      MPI_Recv(in, (int)bytes, MPI_BYTE, peer, kTag, talk.comm, MPI_STATUS_IGNORE);
      expect(in, peer, rank, bytes);
    }
  }
  free(out);
  free(in);
}

struct test_case {
  const char* name;
  void (*run)(void);
};

// Runs the case that the first argument names; the second one is the prefix of the truth.
static inline int run_case(int argc, char** argv, const struct test_case* cases, size_t count) {
  static const char* const kNames[] = {"A", "B", "talk"};
  struct channel* const channels[] = {&a, &b, &talk};
  int provided, cases_run = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  truth_prefix = argc > 2 ? argv[2] : NULL;
  open_truth(truth_prefix, rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    *channels[i] = name_channel(comm, kNames[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    if (argc < 2 || strcmp(cases[i].name, argv[1]) != 0) continue;
    cases[i].run();
    ++cases_run;
  }
  if (cases_run != 1) fail("usage: %s CASE [TRUTH-PREFIX]", argv[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: all contents are right\n", argv[1]);
  for (int i = 0; i < 3; ++i) {
    free(channels[i]->world);
    MPI_Comm_free(&channels[i]->comm);
  }
  close_truth();
  MPI_Finalize();
  return 0;
}
