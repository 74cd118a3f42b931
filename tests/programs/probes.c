// Messages that are probed before they are received: with and without wildcards, several of one tag
// in flight, matched in one order and received in another.
//
//     probes [TRUTH-PREFIX]

#include "common.h"

enum { kMessages = 12, kTags = 3, kRounds = 4 };
static const size_t kSizes[kMessages] = {0,     8,    100000, 1000,  8192,   20000,
                                         65536, 1000, 4,      30000, 300000, 1};

static int rank, size, from;
static unsigned char* sent[kMessages];
static MPI_Request requests[kMessages];
static int taken[kMessages];

static int tag_of(int round, int i) { return round * 10 + i % kTags; }
static uint64_t seed_of(int src, int round, int i) {
  return (uint64_t)(src * 10000 + round * 100 + i);
}

static void send_all(int round) {
  const int to = (rank + 1) % size;
  for (int i = 0; i < kMessages; ++i) {
    sent[i] = allocate(kSizes[i]);
    fill(sent[i], kSizes[i], seed_of(rank, round, i));
    MPI_Isend(sent[i], (int)kSizes[i], MPI_BYTE, to, tag_of(round, i), MPI_COMM_WORLD,
              &requests[i]);
    write_truth((struct sent){.src = rank,
                              .dst = to,
                              .bytes = kSizes[i],
                              .tag = tag_of(round, i),
                              .function = "MPI_Isend",
                              .comm = "MPI_COMM_WORLD"});
    taken[i] = 0;
  }
}

static void finish_sends(void) {
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; ++i) free(sent[i]);
}

// The next message of this source and tag is the first one not taken yet.
static int next_of(const MPI_Status* status, int round) {
  if (status->MPI_SOURCE != from) fail("a message of %d", status->MPI_SOURCE);
  for (int i = 0; i < kMessages; ++i) {
    if (tag_of(round, i) != status->MPI_TAG || taken[i]) continue;
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if ((size_t)bytes != kSizes[i]) fail("found %d bytes instead of %zu", bytes, kSizes[i]);
    taken[i] = 1;
    return i;
  }
  fail("nobody sent tag %d", status->MPI_TAG);
}

static void check_contents(unsigned char* got, int round, int i) {
  if (!holds(got, kSizes[i], seed_of(from, round, i))) fail("wrong contents of %d", i);
  free(got);
}

static void receive_found(const MPI_Status* status, int round) {
  const int i = next_of(status, round);
  unsigned char* got = allocate(kSizes[i]);
  MPI_Recv(got, (int)kSizes[i], MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  check_contents(got, round, i);
}

static void probe_then_receive(int round) {
  for (int k = 0; k < kMessages; ++k) {
    MPI_Status status;
    MPI_Probe(k % 2 == 0 ? MPI_ANY_SOURCE : from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    receive_found(&status, round);
  }
}

// The last tag first, although the others came before.
static void poll_then_receive(int round) {
  for (int tag = kTags - 1; tag >= 0; --tag) {
    for (int k = 0; k < kMessages / kTags; ++k) {
      MPI_Status status;
      int found = 0;
      while (!found) {
        MPI_Iprobe(MPI_ANY_SOURCE, tag_of(round, tag), MPI_COMM_WORLD, &found, &status);
      }
      receive_found(&status, round);
    }
  }
}

enum finding { kMprobe, kImprobe };

// Matches all of them first, then receives them backwards.
static void match_then_receive(int round, enum finding finding) {
  MPI_Message matched[kMessages];
  MPI_Request receives[kMessages];
  unsigned char* got[kMessages];
  int number[kMessages];
  for (int k = 0; k < kMessages; ++k) {
    MPI_Status status;
    int found = 0;
    if (finding == kMprobe) {
      MPI_Mprobe(MPI_ANY_SOURCE, tag_of(round, kTags - 1 - k % kTags), MPI_COMM_WORLD, &matched[k],
                 &status);
    } else {
      while (!found) {
        MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &matched[k], &status);
      }
    }
    number[k] = next_of(&status, round);
  }
  for (int k = kMessages - 1; k >= 0; --k) {
    const int bytes = (int)kSizes[number[k]];
    got[k] = allocate((size_t)bytes);
    receives[k] = MPI_REQUEST_NULL;
    if (k % 2 == 0) {
      MPI_Mrecv(got[k], bytes, MPI_BYTE, &matched[k], MPI_STATUS_IGNORE);
    } else {
      MPI_Imrecv(got[k], bytes, MPI_BYTE, &matched[k], &receives[k]);
    }
  }
  MPI_Waitall(kMessages, receives, MPI_STATUSES_IGNORE);
  for (int k = 0; k < kMessages; ++k) check_contents(got[k], round, number[k]);
}

int main(int argc, char** argv) {
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
  // The check looks up the communicator of each request of MPI_Waitall; those of MPI_Imrecv over UCX
  // have none, and 5.0.7 crashes.
  setenv("OMPI_MCA_mpi_param_check", "0", 1);
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  from = (rank + size - 1) % size;
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  for (int round = 0; round < kRounds; ++round) {
    send_all(round);
    if (round == 0) probe_then_receive(round);
    if (round == 1) poll_then_receive(round);
    if (round == 2) match_then_receive(round, kMprobe);
    if (round == 3) match_then_receive(round, kImprobe);
    finish_sends();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("probes: %d messages per rank are right\n", kRounds * kMessages);
  close_truth();
  MPI_Finalize();
  return 0;
}
