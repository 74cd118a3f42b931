// Traffic of requests that are progressed by other calls: persistent ones, non-blocking collective
// operations, and those of several threads.
//
//     attribution_more persistent|persistent-collectives|icollectives|threads [TRUTH-PREFIX]

#include "cases.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5  // which has it by another name
#define MPI_Alltoall_init MPIX_Alltoall_init
#endif

// --- what all ranks give each other --------------------------------------------------------------

// Blocks for every rank, and room for theirs.
struct blocks {
  const struct channel* channel;
  size_t bytes;
  unsigned char *out, *in;
};

static struct blocks make_blocks(const struct channel* channel, size_t bytes) {
  struct blocks blocks = {channel, bytes, allocate(bytes * (size_t)size),
                          allocate(bytes * (size_t)size)};
  for (int peer = 0; peer < size; ++peer) {
    fill(blocks.out + bytes * (size_t)peer, bytes, seed_of(rank, peer, bytes));
  }
  return blocks;
}

static void expect_blocks(const struct blocks* blocks) {
  for (int peer = 0; peer < size; ++peer) {
    expect(blocks->in + blocks->bytes * (size_t)peer, peer, rank, blocks->bytes);
  }
  memset(blocks->in, 0, blocks->bytes * (size_t)size);
}

static void sent_blocks(const struct blocks* blocks, const char* function) {
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) sent(blocks->channel, function, peer, blocks->bytes, kNoTag);
  }
}

static void free_blocks(struct blocks* blocks) {
  free(blocks->out);
  free(blocks->in);
}

// --- persistent requests -------------------------------------------------------------------------

// A message to the next rank and one from the previous.
struct ring {
  const struct channel* channel;
  size_t bytes;
  unsigned char *out, *in;
  MPI_Request requests[2];
};

static struct ring make_ring(const struct channel* channel, size_t bytes) {
  struct ring ring = {.channel = channel,
                      .bytes = bytes,
                      .out = allocate(bytes),
                      .in = allocate(bytes)};
  const int count = (int)bytes;
  fill(ring.out, bytes, seed_of(rank, next, bytes));
  MPI_Recv_init(ring.in, count, MPI_BYTE, previous, kTag, channel->comm, &ring.requests[0]);
  MPI_Send_init(ring.out, count, MPI_BYTE, next, kTag, channel->comm, &ring.requests[1]);
  return ring;
}

static void expect_ring(const struct ring* ring) {
  expect(ring->in, previous, rank, ring->bytes);
  memset(ring->in, 0, ring->bytes);
}

static void free_ring(struct ring* ring) {
  for (int i = 0; i < 2; ++i) MPI_Request_free(&ring->requests[i]);
  free(ring->out);
  free(ring->in);
}

static void start_one_by_one(struct ring* rings[2]) {
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&rings[i]->requests[0]);
    MPI_Start(&rings[i]->requests[1]);
    sent(rings[i]->channel, "MPI_Start", next, rings[i]->bytes, kTag);
  }
  talk_with_all(3000);
  for (int i = 0; i < 2; ++i) {
    MPI_Waitall(2, rings[i]->requests, MPI_STATUSES_IGNORE);
    expect_ring(rings[i]);
  }
}

static void start_together(struct ring* rings[2]) {
  MPI_Request all[4];
  for (int i = 0; i < 2; ++i) memcpy(all + 2 * i, rings[i]->requests, sizeof rings[i]->requests);
  MPI_Startall(4, all);
  for (int i = 0; i < 2; ++i) {
    sent(rings[i]->channel, "MPI_Startall", next, rings[i]->bytes, kTag);
  }
  talk_with_all(200000);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) expect_ring(rings[i]);
}

// One of the communicators has only started requests.
static void persistent(void) {
  struct ring first = make_ring(&a, 700), second = make_ring(&b, 90000);
  struct ring *forth[2] = {&first, &second}, *back[2] = {&second, &first};
  start_one_by_one(back);
  start_together(forth);
  start_together(back);
  free_ring(&second);
  second = make_ring(&talk, 30);  // its requests may have the handles of those that were freed
  start_together(back);
  start_one_by_one(forth);
  free_ring(&first);
  free_ring(&second);
}

static void persistent_collectives(void) {
  enum { kOperations = 3 };
  struct blocks blocks[kOperations] = {make_blocks(&a, 300), make_blocks(&b, 40000),
                                       make_blocks(&a, 5000)};
  MPI_Request requests[kOperations];
  for (int i = 0; i < kOperations; ++i) {
    MPI_Alltoall_init(blocks[i].out, (int)blocks[i].bytes, MPI_BYTE, blocks[i].in,
                      (int)blocks[i].bytes, MPI_BYTE, blocks[i].channel->comm, MPI_INFO_NULL,
                      &requests[i]);
  }
  for (int round = 0; round < kRounds; ++round) {
    if (round == 0) {
      MPI_Startall(kOperations, requests);
    } else {
      for (int i = kOperations - 1; i >= 0; --i) MPI_Start(&requests[i]);
    }
    for (int i = 0; i < kOperations; ++i) {
      sent_blocks(&blocks[i], round == 0 ? "MPI_Startall" : "MPI_Start");
    }
    talk_with_all(6000);
    MPI_Waitall(kOperations, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kOperations; ++i) expect_blocks(&blocks[i]);
  }
  for (int i = 0; i < kOperations; ++i) {
    MPI_Request_free(&requests[i]);
    free_blocks(&blocks[i]);
  }
}

// --- non-blocking collective operations ----------------------------------------------------------

// Several at a time on one communicator, and the same on the other.
static void icollectives(void) {
  enum { kOperations = 6 };
  const size_t sizes[kOperations] = {100, 20000, 1500, 300000, 64, 70000};
  for (int round = 0; round < kRounds; ++round) {
    struct blocks blocks[kOperations];
    MPI_Request requests[kOperations];
    for (int i = 0; i < kOperations; ++i) {
      struct blocks* const block = &blocks[i];
      *block = make_blocks(i % 2 == 0 ? &a : &b, sizes[i]);
      const int count = (int)block->bytes;
      MPI_Comm comm = block->channel->comm;
      if (i < 4) {
        MPI_Ialltoall(block->out, count, MPI_BYTE, block->in, count, MPI_BYTE, comm, &requests[i]);
        sent_blocks(block, "MPI_Ialltoall");
      } else {
        MPI_Igather(block->out, count, MPI_BYTE, block->in, count, MPI_BYTE, 0, comm,
                    &requests[i]);
        if (rank != 0) sent(block->channel, "MPI_Igather", 0, block->bytes, kNoTag);
      }
    }
    talk_with_all(10000);
    MPI_Waitall(kOperations, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) expect_blocks(&blocks[i]);
    for (int i = 0; i < kOperations; ++i) free_blocks(&blocks[i]);
  }
}

// --- threads -------------------------------------------------------------------------------------

enum { kThreads = 4, kTurns = 10 };

// Each thread has a communicator of its own, and progresses operations that the others started.
static void* use_own_communicator(void* argument) {
  const struct channel* channel = argument;
  const size_t bytes = 1000 * (size_t)(channel->name[1] - '0' + 1);
  unsigned char *out = allocate(bytes), *in = allocate(bytes);
  fill(out, bytes, seed_of(rank, next, bytes));
  for (int turn = 0; turn < kTurns; ++turn) {
    struct blocks blocks = make_blocks(channel, bytes + (size_t)turn);
    const int count = (int)blocks.bytes;
    MPI_Request requests[2];
    MPI_Ialltoall(blocks.out, count, MPI_BYTE, blocks.in, count, MPI_BYTE, channel->comm,
                  &requests[0]);
    sent_blocks(&blocks, "MPI_Ialltoall");
    MPI_Isend(out, (int)bytes, MPI_BYTE, next, kTag, channel->comm, &requests[1]);
    sent(channel, "MPI_Isend", next, bytes, kTag);
    MPI_Recv(in, (int)bytes, MPI_BYTE, previous, kTag, channel->comm, MPI_STATUS_IGNORE);
    expect(in, previous, rank, bytes);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_blocks(&blocks);
    free_blocks(&blocks);
  }
  free(out);
  free(in);
  return NULL;
}

static void threads(void) {
  static const char* const kNames[kThreads] = {"T0", "T1", "T2", "T3"};
  struct channel channels[kThreads];
  pthread_t ids[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    channels[i] = name_channel(comm, kNames[i]);
  }
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&ids[i], NULL, use_own_communicator, &channels[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    free(channels[i].world);
    MPI_Comm_free(&channels[i].comm);
  }
}

int main(int argc, char** argv) {
  static const struct test_case kCases[] = {{"persistent", persistent},
                                            {"persistent-collectives", persistent_collectives},
                                            {"icollectives", icollectives},
                                            {"threads", threads}};
  return run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases);
}
