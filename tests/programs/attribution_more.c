// Traffic of calls that others drive, where it is not told by what is called at that time: one CASE
// of those below. Communicators differ in what is sent on them, not in peers and tags, and on one
// of them ranks talk in blocking calls while the others' operations are under way.
//
//     attribution_more CASE [TRUTH-PREFIX]

#include <pthread.h>

#include "channel.h"
#include "common.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION < 4  // Open MPI 4 has them by other names
#define MPI_Alltoall_init MPIX_Alltoall_init
#endif

enum { kTag = 5, kRounds = 3 };

static struct channel a, b, talk;
static int rank, size, next, previous;

static uint64_t seed_of(int src, int dst, size_t bytes) {
  return (uint64_t)(src * 100 + dst) << 32 | bytes;
}

static void expect(const unsigned char* buffer, int src, int dst, size_t bytes) {
  if (!holds(buffer, bytes, seed_of(src, dst, bytes))) {
    fail("wrong contents, %zu bytes from %d for %d", bytes, src, dst);
  }
}

static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;
static const char* truth_prefix;

static void sent(const struct channel* channel, const char* function, int dst, size_t bytes,
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
static void talk_with_all(size_t bytes) {
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

// On one of the communicators is nothing but what was started.
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

// --- one-sided epochs ----------------------------------------------------------------------------

struct window {
  const struct channel* channel;
  MPI_Win win;
  size_t bytes;
  unsigned char *memory, *from, *got;
};

static struct window make_window(const struct channel* channel, size_t bytes) {
  struct window window = {.channel = channel,
                          .bytes = bytes,
                          .memory = allocate(2 * bytes),
                          .from = allocate(bytes),
                          .got = allocate(bytes)};
  fill(window.memory, bytes, seed_of(rank, rank, bytes));
  fill(window.from, bytes, seed_of(rank, next, bytes));
  MPI_Win_create(window.memory, (MPI_Aint)(2 * bytes), 1, MPI_INFO_NULL, channel->comm,
                 &window.win);
  return window;
}

// Reads the next rank's first half and writes its second.
static void there_and_back(struct window* window) {
  const int count = (int)window->bytes;
  MPI_Put(window->from, count, MPI_BYTE, next, count, count, MPI_BYTE, window->win);
  sent(window->channel, "MPI_Put", next, window->bytes, kNoTag);
  MPI_Get(window->got, count, MPI_BYTE, next, 0, count, MPI_BYTE, window->win);
  write_truth((struct sent){.src = next,
                            .dst = rank,
                            .bytes = window->bytes,
                            .tag = kNoTag,
                            .function = "MPI_Get",
                            .comm = window->channel->name});
}

static void expect_copies(struct window* window) {
  expect(window->got, next, next, window->bytes);
  expect(window->memory + window->bytes, previous, rank, window->bytes);
  memset(window->got, 0, window->bytes);
  memset(window->memory + window->bytes, 0, window->bytes);
}

// Epochs of two windows at the same time.
static void epochs(void) {
  struct window first = make_window(&a, 5000), second = make_window(&b, 120000);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Win_lock_all(0, second.win);
    MPI_Win_fence(0, first.win);
    there_and_back(&second);
    there_and_back(&first);
    talk_with_all(500);
    MPI_Win_flush_all(second.win);
    MPI_Win_fence(0, first.win);
    MPI_Win_unlock_all(second.win);
    MPI_Barrier(talk.comm);
    expect_copies(&first);
    expect_copies(&second);
    MPI_Barrier(talk.comm);
  }
  MPI_Win_free(&first.win);
  MPI_Win_free(&second.win);
}

// --- threads -------------------------------------------------------------------------------------

enum { kThreads = 4, kTurns = 10 };

// Each thread has a communicator of its own, and drives what the others began.
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

// --- files ---------------------------------------------------------------------------------------

// Ranks own alternate blocks of a file: what they write together they must first give each other.
static void write_and_read(const struct channel* channel, size_t bytes) {
  enum { kBlocks = 8 };
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", truth_prefix, channel->name);
  unsigned char *out = allocate(kBlocks * bytes), *in = allocate(kBlocks * bytes);
  const int count = kBlocks * (int)bytes;
  MPI_File file;
  MPI_Datatype mine;
  MPI_Request request;
  fill(out, kBlocks * bytes, seed_of(rank, rank, bytes));
  MPI_File_open(channel->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Type_vector(2 * kBlocks, (int)bytes, (int)bytes * size, MPI_BYTE, &mine);
  MPI_Type_commit(&mine);
  MPI_File_set_view(file, (MPI_Offset)((size_t)rank * bytes), MPI_BYTE, mine, "native",
                    MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, out, count, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at_all(file, count, out, count, MPI_BYTE, &request);
  talk_with_all(400);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(talk.comm);
  MPI_File_read_at_all(file, count, in, count, MPI_BYTE, MPI_STATUS_IGNORE);
  if (memcmp(in, out, kBlocks * bytes) != 0) fail("the file has other contents");
  MPI_File_close(&file);
  MPI_Type_free(&mine);
  free(out);
  free(in);
}

static void files(void) {
  if (truth_prefix == NULL) fail("files need a prefix");
  write_and_read(&a, 5000);
  write_and_read(&b, 60000);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kCases[] = {{"persistent", persistent},
                {"persistent-collectives", persistent_collectives},
                {"icollectives", icollectives},
                {"epochs", epochs},
                {"threads", threads},
                {"files", files}};
  MPI_Comm comms[3];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) fail("this MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  truth_prefix = argc > 2 ? argv[2] : NULL;
  open_truth(truth_prefix, rank);
  for (int i = 0; i < 3; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  a = name_channel(comms[0], "A");
  b = name_channel(comms[1], "B");
  talk = name_channel(comms[2], "talk");
  int cases_run = 0;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (argc < 2 || strcmp(kCases[i].name, argv[1]) != 0) continue;
    kCases[i].run();
    ++cases_run;
  }
  if (cases_run != 1) fail("usage: attribution_more CASE [TRUTH-PREFIX]");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s: all contents are right\n", argv[1]);
  free(a.world);
  free(b.world);
  free(talk.world);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
  close_truth();
  MPI_Finalize();
  return 0;
}
