// A seeded, content-checked exchange: every kind of point-to-point send (0 B to 1 MiB) on several
// communicators, received in every way. Every rank draws the same plan from the seed, so each knows
// what it must send and receive. Prints one line that depends on the seed and size only.
//
//     exchange [TRUTH-PREFIX [SEED]]

#include "channel.h"
#include "common.h"
#include "layout.h"

enum { kMessagesPerRank = 4, kTags = 3, kPersistentRounds = 3, kBufferedBytes = 24 << 20 };

static const size_t kSizes[] = {0,    1,    7,     8,     100,    1000,   4000,
                                8192, 8256, 16384, 65536, 100000, 262144, 1048576};

// --- plans: the messages of one batch, known to every member of the channel ----------------------

struct message {
  int src, dst;  // ranks in the channel
  int tag;
  size_t bytes;
  uint64_t seed;
  unsigned char* buffer;  // of the side that this rank plays
  MPI_Request request;
  int received;
};

struct plan {
  struct message* messages;
  int count;
};

static struct plan draw_plan(const struct channel* channel, uint64_t seed, int batch) {
  uint64_t state = seed + (uint64_t)batch * 1000003u + (uint64_t)channel->world[0];
  struct plan plan = {.count = kMessagesPerRank * channel->size};
  plan.messages = allocate(sizeof *plan.messages * (size_t)plan.count);
  for (int i = 0; i < plan.count; ++i) {
    struct message* message = &plan.messages[i];
    message->src = (int)(next_random(&state) % (uint64_t)channel->size);
    message->dst = (int)(next_random(&state) % (uint64_t)channel->size);
    message->tag = batch * kTags + (int)(next_random(&state) % kTags);
    message->bytes = kSizes[next_random(&state) % (sizeof kSizes / sizeof *kSizes)];
    message->seed = next_random(&state);
    message->request = MPI_REQUEST_NULL;
  }
  return plan;
}

static void free_plan(struct plan* plan) {
  for (int i = 0; i < plan->count; ++i) free(plan->messages[i].buffer);
  free(plan->messages);
}

// --- totals --------------------------------------------------------------------------------------

static struct { uint64_t messages, bytes, checksum; } received;

static void count_received(const struct message* message) {
  received.messages += 1;
  received.bytes += message->bytes;
  received.checksum += message->seed ^ message->bytes;
}

static void report_sent(const struct channel* channel, const struct message* message,
                        const char* function) {
  write_truth((struct sent){.src = channel->world[message->src],
                            .dst = channel->world[message->dst],
                            .bytes = message->bytes,
                            .tag = message->tag,
                            .function = function,
                            .comm = channel->name});
}

// --- batches: one way to send, one way to receive ------------------------------------------------

typedef int (*blocking_send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*immediate_send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

enum receipt { kIrecv, kIrecvAnySource, kIrecvAnyTag, kIrecvAny, kProbeRecv, kMprobeMrecv, kRecv };
// `kLate` receives are posted only after every send was started: all messages are unexpected.
enum timing { kEarly, kLate };

struct batch {
  const char* function;
  blocking_send blocking;
  immediate_send immediate;
  enum receipt receipt;
  enum timing timing;
  enum layout layout;
};

#define BLOCKING(name) #name, name, NULL
#define IMMEDIATE(name) #name, NULL, name

static const struct batch kBatches[] = {
    {BLOCKING(MPI_Send), kIrecv, kEarly, kContiguous},
    {BLOCKING(MPI_Send), kIrecvAny, kEarly, kContiguous},
    {BLOCKING(MPI_Ssend), kIrecv, kEarly, kContiguous},
    {BLOCKING(MPI_Ssend), kIrecvAnySource, kEarly, kContiguous},
    {BLOCKING(MPI_Rsend), kIrecv, kEarly, kContiguous},
    {BLOCKING(MPI_Bsend), kIrecvAnyTag, kEarly, kContiguous},
    {BLOCKING(MPI_Bsend), kRecv, kLate, kContiguous},
    {IMMEDIATE(MPI_Isend), kIrecv, kEarly, kContiguous},
    {IMMEDIATE(MPI_Isend), kIrecvAnySource, kEarly, kContiguous},
    {IMMEDIATE(MPI_Isend), kIrecvAnyTag, kLate, kContiguous},
    {IMMEDIATE(MPI_Isend), kIrecvAny, kLate, kContiguous},
    {IMMEDIATE(MPI_Isend), kProbeRecv, kLate, kContiguous},
    {IMMEDIATE(MPI_Isend), kMprobeMrecv, kLate, kContiguous},
    {IMMEDIATE(MPI_Isend), kRecv, kLate, kContiguous},
    {IMMEDIATE(MPI_Issend), kRecv, kLate, kContiguous},
    {IMMEDIATE(MPI_Irsend), kIrecv, kEarly, kContiguous},
    {IMMEDIATE(MPI_Ibsend), kIrecvAny, kLate, kContiguous},
    {BLOCKING(MPI_Send), kIrecv, kEarly, kVector},
    {IMMEDIATE(MPI_Isend), kRecv, kLate, kVector},
};
enum { kBatchCount = sizeof kBatches / sizeof *kBatches };

static void send_message(const struct batch* batch, const struct channel* channel,
                         struct message* message) {
  message->buffer = make_contents(batch->layout, message->bytes, message->seed);
  struct view view = make_view(batch->layout, message->bytes);
  if (batch->blocking != NULL) {
    batch->blocking(message->buffer, view.count, view.type, message->dst, message->tag,
                    channel->comm);
  } else {
    batch->immediate(message->buffer, view.count, view.type, message->dst, message->tag,
                     channel->comm, &message->request);
  }
  free_view(&view);
  report_sent(channel, message, batch->function);
}

// The message that a completed receive must hold: the next one of its source and tag.
static void accept(const struct batch* batch, struct plan* plan, const struct channel* channel,
                   unsigned char* buffer, MPI_Status* status) {
  int elements;
  MPI_Get_elements(status, batch->layout == kVector ? MPI_INT : MPI_BYTE, &elements);
  const size_t bytes = (size_t)elements * (batch->layout == kVector ? sizeof(int) : 1);
  for (int i = 0; i < plan->count; ++i) {
    struct message* message = &plan->messages[i];
    if (message->dst != channel->rank || message->src != status->MPI_SOURCE ||
        message->tag != status->MPI_TAG || message->received) {
      continue;
    }
    if (bytes != message->bytes ||
        !contents_hold(batch->layout, buffer, message->bytes, message->seed)) {
      fail("%s on %s: wrong contents, %zu of %zu bytes from %d, tag %d", batch->function,
           channel->name, bytes, message->bytes, message->src, message->tag);
    }
    message->received = 1;
    count_received(message);
    return;
  }
  fail("%s on %s: nobody sent tag %d from %d", batch->function, channel->name, status->MPI_TAG,
       status->MPI_SOURCE);
}

// The receives of one rank in posting order.
struct receive {
  unsigned char* buffer;
  MPI_Request request;
};

static void post_receive(const struct batch* batch, const struct channel* channel,
                         const struct message* message, size_t capacity, struct receive* receive) {
  const int any_source = batch->receipt == kIrecvAnySource || batch->receipt == kIrecvAny;
  const int any_tag = batch->receipt == kIrecvAnyTag || batch->receipt == kIrecvAny;
  const size_t bytes = any_source || any_tag ? capacity : message->bytes;
  receive->buffer = allocate(extent_of(batch->layout, bytes));
  struct view view = make_view(batch->layout, bytes);
  MPI_Irecv(receive->buffer, view.count, view.type, any_source ? MPI_ANY_SOURCE : message->src,
            any_tag ? MPI_ANY_TAG : message->tag, channel->comm, &receive->request);
  free_view(&view);
}

static void receive_now(const struct batch* batch, struct plan* plan, const struct channel* channel,
                        const struct message* message) {
  MPI_Status status;
  unsigned char* buffer = allocate(extent_of(batch->layout, message->bytes));
  struct view view = make_view(batch->layout, message->bytes);
  if (batch->receipt == kMprobeMrecv) {
    MPI_Message matched;
    MPI_Mprobe(message->src, message->tag, channel->comm, &matched, &status);
    MPI_Mrecv(buffer, view.count, view.type, &matched, &status);
  } else {
    if (batch->receipt == kProbeRecv) {
      MPI_Probe(message->src, message->tag, channel->comm, &status);
    }
    MPI_Recv(buffer, view.count, view.type, message->src, message->tag, channel->comm, &status);
  }
  free_view(&view);
  accept(batch, plan, channel, buffer, &status);
  free(buffer);
}

static void send_all(const struct batch* batch, struct plan* plan, const struct channel* channel) {
  for (int i = 0; i < plan->count; ++i) {
    struct message* message = &plan->messages[i];
    if (message->src == channel->rank) send_message(batch, channel, message);
  }
}

static void finish_sends(struct plan* plan) {
  for (int i = 0; i < plan->count; ++i) MPI_Wait(&plan->messages[i].request, MPI_STATUS_IGNORE);
}

static void run_batch(const struct batch* batch, const struct channel* channel, struct plan* plan) {
  size_t capacity = 0;
  int mine = 0;
  for (int i = 0; i < plan->count; ++i) {
    struct message* message = &plan->messages[i];
    if (batch->layout == kVector) message->bytes -= message->bytes % kBlockBytes;
    if (message->dst != channel->rank) continue;
    mine += 1;
    if (message->bytes > capacity) capacity = message->bytes;
  }

  struct receive* receives = allocate(sizeof *receives * (size_t)mine);
  const int posted = batch->receipt <= kIrecvAny ? mine : 0;
  if (batch->timing == kLate) {
    send_all(batch, plan, channel);
    MPI_Barrier(channel->comm);
  }
  for (int i = 0, next = 0; i < plan->count; ++i) {
    const struct message* message = &plan->messages[i];
    if (message->dst != channel->rank) continue;
    if (posted > 0) {
      post_receive(batch, channel, message, capacity, &receives[next++]);
    } else {
      receive_now(batch, plan, channel, message);
    }
  }
  if (batch->timing == kEarly) {
    MPI_Barrier(channel->comm);  // makes ready sends legal
    send_all(batch, plan, channel);
  }
  for (int i = 0; i < posted; ++i) {
    MPI_Status status;
    MPI_Wait(&receives[i].request, &status);
    accept(batch, plan, channel, receives[i].buffer, &status);
    free(receives[i].buffer);
  }
  finish_sends(plan);
  free(receives);
}

// --- ways that send and receive in one call, or over and over ------------------------------------

static void check_one(const char* function, const unsigned char* buffer,
                      const struct message* message) {
  if (!holds(buffer, message->bytes, message->seed)) {
    fail("%s: wrong contents, %zu bytes from %d", function, message->bytes, message->src);
  }
  count_received(message);
}

// Shifts by every distance, the sizes differing by source; both directions in one call.
static void run_sendrecv(const struct channel* channel, uint64_t seed, int tag) {
  for (int distance = 0; distance < channel->size; ++distance) {
    const int to = (channel->rank + distance) % channel->size;
    const int from = (channel->rank - distance + channel->size) % channel->size;
    struct message out = {.src = channel->rank, .dst = to, .tag = tag + distance};
    struct message in = {.src = from, .dst = channel->rank, .tag = tag + distance};
    out.bytes = kSizes[(size_t)(out.src + 3 * distance) % (sizeof kSizes / sizeof *kSizes)];
    in.bytes = kSizes[(size_t)(in.src + 3 * distance) % (sizeof kSizes / sizeof *kSizes)];
    out.seed = seed + (uint64_t)(channel->world[out.src] * 64 + distance);
    in.seed = seed + (uint64_t)(channel->world[in.src] * 64 + distance);
    unsigned char* sent = make_contents(kContiguous, out.bytes, out.seed);
    unsigned char* got = allocate(in.bytes);
    MPI_Sendrecv(sent, (int)out.bytes, MPI_BYTE, to, out.tag, got, (int)in.bytes, MPI_BYTE, from,
                 in.tag, channel->comm, MPI_STATUS_IGNORE);
    report_sent(channel, &out, "MPI_Sendrecv");
    check_one("MPI_Sendrecv", got, &in);

    in.bytes = out.bytes = kSizes[(size_t)(5 * distance + 6) % (sizeof kSizes / sizeof *kSizes)];
    unsigned char* both = make_contents(kContiguous, out.bytes, out.seed);
    MPI_Sendrecv_replace(both, (int)out.bytes, MPI_BYTE, to, out.tag, from, in.tag, channel->comm,
                         MPI_STATUS_IGNORE);
    report_sent(channel, &out, "MPI_Sendrecv_replace");
    check_one("MPI_Sendrecv_replace", both, &in);
    free(sent);
    free(got);
    free(both);
  }
}

enum starter { kStart, kStartall };

// Persistent requests to the next rank: one of each send mode, with new contents in each round.
static void run_persistent(const struct channel* channel, uint64_t seed, int tag,
                           enum starter starter) {
  enum { kModes = 3 };
  static const size_t sizes[kModes] = {1000, 100000, 16384};
  const char* function = starter == kStart ? "MPI_Start" : "MPI_Startall";
  const int to = (channel->rank + 1) % channel->size;
  const int from = (channel->rank + channel->size - 1) % channel->size;
  unsigned char *sent[kModes], *got[kModes];
  MPI_Request requests[2 * kModes];
  for (int mode = 0; mode < kModes; ++mode) {
    const int count = (int)sizes[mode];
    sent[mode] = allocate(sizes[mode]);
    got[mode] = allocate(sizes[mode]);
    MPI_Recv_init(got[mode], count, MPI_BYTE, from, tag + mode, channel->comm, &requests[mode]);
  }
  MPI_Request* sends = requests + kModes;
  MPI_Send_init(sent[0], (int)sizes[0], MPI_BYTE, to, tag + 0, channel->comm, &sends[0]);
  MPI_Ssend_init(sent[1], (int)sizes[1], MPI_BYTE, to, tag + 1, channel->comm, &sends[1]);
  MPI_Bsend_init(sent[2], (int)sizes[2], MPI_BYTE, to, tag + 2, channel->comm, &sends[2]);

  for (int round = 0; round < kPersistentRounds; ++round) {
    struct message out = {.src = channel->rank, .dst = to}, in = {.src = from};
    for (int mode = 0; mode < kModes; ++mode) {
      out.seed = seed + (uint64_t)(channel->world[out.src] * 64 + round * kModes + mode);
      fill(sent[mode], sizes[mode], out.seed);
      out.tag = tag + mode;
      out.bytes = sizes[mode];
      report_sent(channel, &out, function);
    }
    if (starter == kStartall) {
      MPI_Startall(2 * kModes, requests);
    } else {
      for (int i = 0; i < 2 * kModes; ++i) MPI_Start(&requests[i]);
    }
    MPI_Waitall(2 * kModes, requests, MPI_STATUSES_IGNORE);
    for (int mode = 0; mode < kModes; ++mode) {
      in.seed = seed + (uint64_t)(channel->world[from] * 64 + round * kModes + mode);
      in.bytes = sizes[mode];
      check_one(function, got[mode], &in);
    }
  }
  for (int i = 0; i < 2 * kModes; ++i) MPI_Request_free(&requests[i]);
  for (int mode = 0; mode < kModes; ++mode) {
    free(sent[mode]);
    free(got[mode]);
  }
}

// Nothing travels to or from MPI_PROC_NULL, so the truth does not mention it.
static void run_null_peer(void) {
  char byte = 0;
  MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 42;
  void* buffered = allocate(kBufferedBytes);
  MPI_Buffer_attach(buffered, kBufferedBytes);

  // Halves of at least two: MPICH does not use UCX in a communicator of one.
  MPI_Comm dup, reversed, halves;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank * 2 / size * (size >= 4), rank, &halves);
  struct channel channels[] = {make_channel(MPI_COMM_WORLD, "MPI_COMM_WORLD"),
                               name_channel(dup, "dup"), name_channel(reversed, "reversed"),
                               name_channel(halves, "halves"),
                               make_channel(MPI_COMM_SELF, "MPI_COMM_SELF")};
  enum { kChannels = sizeof channels / sizeof *channels };

  // Every batch on the world and on one other channel, so that all meet early and late receives.
  for (int i = 0; i < 2 * kBatchCount; ++i) {
    const struct batch* batch = &kBatches[i / 2];
    const struct channel* channel = &channels[i % 2 == 0 ? 0 : 1 + i / 2 % (kChannels - 1)];
    struct plan plan = draw_plan(channel, seed, i);
    run_batch(batch, channel, &plan);
    free_plan(&plan);
  }
  const int tag = 2 * kBatchCount * kTags;
  for (int i = 0; i < kChannels; ++i) {
    run_sendrecv(&channels[i], seed + 1, tag);
    run_persistent(&channels[i], seed + 2, tag, kStart);
    run_persistent(&channels[i], seed + 3, tag, kStartall);
  }
  run_null_peer();

  uint64_t mine[] = {received.messages, received.bytes, received.checksum}, total[3];
  MPI_Reduce(mine, total, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("exchange: %llu messages, %llu bytes, checksum %016llx\n", (unsigned long long)total[0],
           (unsigned long long)total[1], (unsigned long long)total[2]);
  }
  for (int i = 0; i < kChannels; ++i) free(channels[i].world);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&halves);
  int detached;
  MPI_Buffer_detach(&buffered, &detached);
  free(buffered);
  close_truth();
  MPI_Finalize();
  return 0;
}
