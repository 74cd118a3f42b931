// Traffic of one call that is progressed by other calls: an MPI_Ialltoall and MPI_Isends on
// communicator A make progress inside blocking sends and receives on communicator B, with the same
// peers and tags.
//
//     attribution [TRUTH-PREFIX]

#include "channel.h"
#include "common.h"

enum { kRounds = 6, kTag = 5 };
// Eager and rendezvous; MPI libraries choose other algorithms for either.
static const size_t kBlocks[kRounds] = {64, 300000, 2000, 65536, 8192, 600000};

static uint64_t seed_of(const char* what, int src, int dst, int round) {
  return (uint64_t)(unsigned char)what[0] << 32 | (uint64_t)(src * 1000 + dst * 50 + round);
}

static void expect(const char* what, const unsigned char* buffer, size_t bytes, int src, int dst,
                   int round) {
  if (!holds(buffer, bytes, seed_of(what, src, dst, round))) {
    fail("%s: wrong contents, %zu bytes from %d", what, bytes, src);
  }
}

static void send_on(const struct channel* channel, const char* what, unsigned char* buffer,
                    size_t bytes, int to, int round, MPI_Request* request) {
  fill(buffer, bytes, seed_of(what, channel->rank, to, round));
  if (request != NULL) {
    MPI_Isend(buffer, (int)bytes, MPI_BYTE, to, kTag, channel->comm, request);
  } else {
    MPI_Send(buffer, (int)bytes, MPI_BYTE, to, kTag, channel->comm);
  }
  write_truth((struct sent){.src = channel->rank,
                            .dst = to,
                            .bytes = bytes,
                            .tag = kTag,
                            .function = request != NULL ? "MPI_Isend" : "MPI_Send",
                            .comm = channel->name});
}

// Blocking calls on B with every peer in turn; the lower rank of a pair sends first.
static void talk_on(const struct channel* b, unsigned char* buffer, size_t bytes, int round) {
  for (int peer = 0; peer < b->size; ++peer) {
    if (peer == b->rank) continue;
    if (b->rank < peer) send_on(b, "send", buffer, bytes, peer, round, NULL);
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, peer, kTag, b->comm, MPI_STATUS_IGNORE);
    expect("send", buffer, bytes, peer, b->rank, round);
    if (b->rank > peer) send_on(b, "send", buffer, bytes, peer, round, NULL);
  }
}

static void run_round(const struct channel* a, const struct channel* b, int round) {
  const size_t block = kBlocks[round], total = block * (size_t)a->size, small = block / 2 + 1;
  const int next = (a->rank + 1) % a->size, previous = (a->rank + a->size - 1) % a->size;
  unsigned char *out = allocate(total), *in = allocate(total), *talk = allocate(block);
  unsigned char *sent = allocate(small), *got = allocate(small);
  for (int peer = 0; peer < a->size; ++peer) {
    fill(out + block * (size_t)peer, block, seed_of("all", a->rank, peer, round));
    if (peer == a->rank) continue;
    write_truth((struct sent){.src = a->rank,
                              .dst = peer,
                              .bytes = block,
                              .tag = kNoTag,
                              .function = "MPI_Ialltoall",
                              .comm = a->name});
  }

  MPI_Request requests[3];
  MPI_Irecv(got, (int)small, MPI_BYTE, previous, kTag, a->comm, &requests[0]);
  MPI_Ialltoall(out, (int)block, MPI_BYTE, in, (int)block, MPI_BYTE, a->comm, &requests[1]);
  send_on(a, "isend", sent, small, next, round, &requests[2]);
  talk_on(b, talk, block, round);
  for (int i = 0; i < 3; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);

  for (int peer = 0; peer < a->size; ++peer) {
    expect("all", in + block * (size_t)peer, block, peer, a->rank, round);
  }
  expect("isend", got, small, previous, a->rank, round);
  free(out);
  free(in);
  free(talk);
  free(sent);
  free(got);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  MPI_Comm comm_a, comm_b;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_a);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_b);
  struct channel a = name_channel(comm_a, "A"), b = name_channel(comm_b, "B");
  for (int round = 0; round < kRounds; ++round) run_round(&a, &b, round);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("attribution: %d rounds are right\n", (int)kRounds);
  free(a.world);
  free(b.world);
  MPI_Comm_free(&comm_a);
  MPI_Comm_free(&comm_b);
  close_truth();
  MPI_Finalize();
  return 0;
}
