// Partitioned messages on two communicators, with the same peers and tags, whose last partitions
// become ready before and after the receiver is known to be ready; and exchanges that other calls
// complete.
//
//     partitioned [TRUTH-PREFIX]

#include "channel.h"
#include "common.h"

enum { kTag = 5, kParts = 4, kRounds = 3 };

static int rank, size, next, previous;

static uint64_t seed_of(int src, size_t bytes) { return (uint64_t)src << 32 | bytes; }

static void sent(const struct channel* channel, const char* function, size_t bytes, int tag) {
  write_truth((struct sent){.src = rank,
                            .dst = next,
                            .bytes = bytes,
                            .tag = tag,
                            .function = function,
                            .comm = channel->name});
}

struct message {
  const struct channel* channel;
  size_t bytes;
  unsigned char *out, *in;
};

static struct message make_message(const struct channel* channel, size_t bytes) {
  struct message message = {channel, bytes, allocate(bytes), allocate(bytes)};
  fill(message.out, bytes, seed_of(rank, bytes));
  return message;
}

static void expect(const struct message* message) {
  if (!holds(message->in, message->bytes, seed_of(previous, message->bytes))) {
    fail("wrong contents, %zu bytes from %d", message->bytes, previous);
  }
  memset(message->in, 0, message->bytes);
}

// Receives and sends of other messages progress the started operations.
static void talk_on(const struct channel* channel) {
  char out = 1, in = 0;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_BYTE, previous, kTag, channel->comm, &request);
  MPI_Send(&out, 1, MPI_BYTE, next, kTag, channel->comm);
  sent(channel, "MPI_Send", 1, kTag);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void partitions(const struct channel channels[2], const struct channel* talk) {
  struct message messages[2] = {make_message(&channels[0], kParts * 100),
                                make_message(&channels[1], kParts * 50000)};
  MPI_Request requests[4];
  for (int i = 0; i < 2; ++i) {
    const struct message* const m = &messages[i];
    const MPI_Count count = (MPI_Count)(m->bytes / kParts);
    MPI_Precv_init(m->in, kParts, count, MPI_BYTE, previous, kTag, m->channel->comm, MPI_INFO_NULL,
                   &requests[2 * i]);
    MPI_Psend_init(m->out, kParts, count, MPI_BYTE, next, kTag, m->channel->comm, MPI_INFO_NULL,
                   &requests[2 * i + 1]);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 4; round == 1 && i-- > 0;) MPI_Start(&requests[i]);
    if (round != 1) MPI_Startall(4, requests);
    for (int i = 0; i < 2; ++i) {
      MPI_Request request = requests[2 * i + 1];
      MPI_Pready(2, request);
      if (round > 0) talk_on(talk);
      MPI_Pready_range(0, 1, request);
      MPI_Pready_list(1, (int[]){3}, request);
      sent(&channels[i], "MPI_Pready_list", messages[i].bytes, kNoTag);
    }
    talk_on(talk);
    for (int i = 0, arrived = 0; i < 2; ++i, arrived = 0) {
      while (!arrived) MPI_Parrived(requests[2 * i], 1, &arrived);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) expect(&messages[i]);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
  for (int i = 0; i < 2; ++i) {
    free(messages[i].out);
    free(messages[i].in);
  }
}

static void exchanges(const struct channel channels[2], const struct channel* talk) {
  struct message small = make_message(&channels[0], 300), big = make_message(&channels[1], 70000);
  struct message replaced = make_message(&channels[1], 2000);
  MPI_Request requests[3];
  MPI_Isendrecv(small.out, 300, MPI_BYTE, next, kTag, small.in, 300, MPI_BYTE, previous, kTag,
                channels[0].comm, &requests[0]);
  sent(&channels[0], "MPI_Isendrecv", 300, kTag);
  MPI_Isendrecv_c(big.out, 70000, MPI_BYTE, next, kTag, big.in, 70000, MPI_BYTE, previous, kTag,
                  channels[1].comm, &requests[1]);
  sent(&channels[1], "MPI_Isendrecv_c", 70000, kTag);
  memcpy(replaced.in, replaced.out, 2000);
  MPI_Isendrecv_replace(replaced.in, 2000, MPI_BYTE, next, kTag + 1, previous, kTag + 1,
                        channels[1].comm, &requests[2]);
  sent(&channels[1], "MPI_Isendrecv_replace", 2000, kTag + 1);
  talk_on(talk);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  const struct message* const all[] = {&small, &big, &replaced};
  for (int i = 0; i < 3; ++i) {
    expect(all[i]);
    free(all[i]->out);
    free(all[i]->in);
  }
}

int main(int argc, char** argv) {
  static const char* const kNames[] = {"A", "B", "talk"};
  struct channel channels[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    channels[i] = name_channel(comm, kNames[i]);
  }
  partitions(channels, &channels[2]);
  exchanges(channels, &channels[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("partitioned: all contents are right\n");
  for (int i = 0; i < 3; ++i) {
    free(channels[i].world);
    MPI_Comm_free(&channels[i].comm);
  }
  close_truth();
  MPI_Finalize();
  return 0;
}
