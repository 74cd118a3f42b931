// Messages of ranks to themselves, on MPI_COMM_WORLD and MPI_COMM_SELF: non-blocking, persistent,
// both ways in one call.
//
//     selves [TRUTH-PREFIX]

#include "channel.h"
#include "common.h"

enum { kRounds = 2 };
static const size_t kSizes[] = {0, 8, 1000, 8192, 100000, 2 << 20};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

static void report(const struct channel* channel, const char* function, size_t bytes, int tag) {
  const int world = channel->world[channel->rank];
  write_truth((struct sent){.src = world,
                            .dst = world,
                            .bytes = bytes,
                            .tag = tag,
                            .function = function,
                            .comm = channel->name});
}

static void check_same(const unsigned char* got, size_t bytes, uint64_t seed, const char* what) {
  if (!holds(got, bytes, seed)) fail("%s: wrong contents, %zu bytes", what, bytes);
}

static void run(const struct channel* c, size_t bytes, int tag) {
  unsigned char *out = allocate(bytes), *in = allocate(bytes);
  const int me = c->rank, count = (int)bytes;
  MPI_Request requests[2];
  for (int posted_first = 0; posted_first < 2; ++posted_first) {
    fill(out, bytes, (uint64_t)(tag + posted_first));
    if (posted_first) MPI_Irecv(in, count, MPI_BYTE, me, tag, c->comm, &requests[0]);
    MPI_Isend(out, count, MPI_BYTE, me, tag, c->comm, &requests[1]);
    report(c, "MPI_Isend", bytes, tag);
    if (!posted_first) {
      MPI_Irecv(in, count, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &requests[0]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_same(in, bytes, (uint64_t)(tag + posted_first), "MPI_Isend");
  }
  fill(out, bytes, (uint64_t)tag + 10);
  MPI_Sendrecv(out, count, MPI_BYTE, me, tag, in, count, MPI_BYTE, me, tag, c->comm,
               MPI_STATUS_IGNORE);
  report(c, "MPI_Sendrecv", bytes, tag);
  check_same(in, bytes, (uint64_t)tag + 10, "MPI_Sendrecv");

  MPI_Recv_init(in, count, MPI_BYTE, me, tag, c->comm, &requests[0]);
  MPI_Send_init(out, count, MPI_BYTE, me, tag, c->comm, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    fill(out, bytes, (uint64_t)(tag + 20 + round));
    MPI_Startall(2, requests);
    report(c, "MPI_Startall", bytes, tag);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_same(in, bytes, (uint64_t)(tag + 20 + round), "MPI_Startall");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  const struct channel world = make_channel(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  const struct channel self = make_channel(MPI_COMM_SELF, "MPI_COMM_SELF");
  for (int i = 0; i < kSizeCount; ++i) {
    run(&world, kSizes[i], 100 * i);
    run(&self, kSizes[i], 100 * i + 50);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("selves: all is right\n");
  close_truth();
  MPI_Finalize();
  return 0;
}
