// Receives that get nothing, or too little: cancelled ones before and alongside receives of the
// same tag, requests that are freed while active, one without a message, truncation.
//
//     cancels [TRUTH-PREFIX]

#include "common.h"

enum { kBytes = 1000, kLarge = 200000, kShort = 100 };
enum tags { kBefore = 10, kBeside, kFreed, kNever, kTruncated };

static int rank, size, to, from;
static MPI_Comm returning;  // reports errors to its caller

static uint64_t seed_of(int src, int tag, int i) { return (uint64_t)(src * 1000 + tag * 10 + i); }

static void send_one(MPI_Comm comm, const char* name, size_t bytes, int tag, int i) {
  unsigned char* buffer = allocate(bytes);
  fill(buffer, bytes, seed_of(rank, tag, i));
  MPI_Ssend(buffer, (int)bytes, MPI_BYTE, to, tag, comm);
  write_truth((struct sent){
      .src = rank, .dst = to, .bytes = bytes, .tag = tag, .function = "MPI_Ssend", .comm = name});
  free(buffer);
}

static void send_world(size_t bytes, int tag, int i) {
  send_one(MPI_COMM_WORLD, "MPI_COMM_WORLD", bytes, tag, i);
}

static unsigned char* post(size_t bytes, int tag, MPI_Request* request) {
  unsigned char* buffer = allocate(bytes);
  MPI_Irecv(buffer, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, request);
  return buffer;
}

static void finish(unsigned char* buffer, size_t bytes, int tag, int i, MPI_Request* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (!holds(buffer, bytes, seed_of(from, tag, i))) fail("wrong contents of tag %d", tag);
  free(buffer);
}

static void cancel(unsigned char* buffer, MPI_Request* request) {
  MPI_Status status;
  int cancelled = 0;
  MPI_Cancel(request);
  MPI_Wait(request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) fail("a receive that nothing arrived for was not cancelled");
  free(buffer);
}

// The lower rank of a pair of neighbours sends first: a synchronous send waits for its receive.
static void run_in_turns(void (*send)(void), void (*receive)(void)) {
  if (rank % 2 == 0) {
    send();
    receive();
  } else {
    receive();
    send();
  }
}

static unsigned char* posted[4];
static MPI_Request requests[4];

static void send_before(void) {
  send_world(kBytes, kBefore, 0);
  send_world(kBytes, kBefore, 1);
}
static void receive_before(void) {
  finish(posted[1], kBytes, kBefore, 0, &requests[1]);
  finish(posted[3], kBytes, kBefore, 1, &requests[3]);
}

// First, third of four receives of one tag are cancelled before anything is sent.
static void cancel_before(void) {
  for (int i = 0; i < 4; ++i) posted[i] = post(kBytes, kBefore, &requests[i]);
  cancel(posted[0], &requests[0]);
  cancel(posted[2], &requests[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  run_in_turns(send_before, receive_before);
}

static void send_beside(void) {
  for (int i = 0; i < 3; ++i) send_world(i == 1 ? kLarge : kBytes, kBeside, i);
}
static void receive_beside(void) {
  finish(posted[0], kBytes, kBeside, 0, &requests[0]);
  finish(posted[1], kLarge, kBeside, 1, &requests[1]);
  finish(posted[2], kBytes, kBeside, 2, &requests[2]);
}

// A fourth receive of the tag is cancelled while the others receive.
static void cancel_beside(void) {
  for (int i = 0; i < 4; ++i) posted[i] = post(i == 1 ? kLarge : kBytes, kBeside, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  run_in_turns(send_beside, receive_beside);
  cancel(posted[3], &requests[3]);
}

static void send_freed(void) {
  unsigned char* buffer = allocate(kLarge);
  MPI_Request request;
  fill(buffer, kLarge, seed_of(rank, kFreed, 0));
  MPI_Isend(buffer, kLarge, MPI_BYTE, to, kFreed, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  write_truth((struct sent){.src = rank,
                            .dst = to,
                            .bytes = kLarge,
                            .tag = kFreed,
                            .function = "MPI_Isend",
                            .comm = "MPI_COMM_WORLD"});
  send_world(kBytes, kFreed, 1);
  posted[3] = buffer;
}
static void receive_freed(void) {
  MPI_Request second;
  unsigned char* last = post(kBytes, kFreed, &second);
  finish(last, kBytes, kFreed, 1, &second);
  // Only its contents show when the freed receive has ended.
  volatile unsigned char* end = posted[0] + kLarge - 1;
  while (*end == 0 || !holds(posted[0], kLarge, seed_of(from, kFreed, 0))) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, returning, &found, MPI_STATUS_IGNORE);
  }
}

static void free_active(void) {
  posted[0] = post(kLarge, kFreed, &requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  run_in_turns(send_freed, receive_freed);
  MPI_Barrier(MPI_COMM_WORLD);  // the freed send has ended, too
  free(posted[0]);
  free(posted[3]);
}

static void send_too_much(void) {
  send_one(returning, "Returning", kBytes, kTruncated, 0);
  send_one(returning, "Returning", kLarge, kTruncated, 1);
}
static void receive_too_little(void) {
  unsigned char buffer[kShort];
  for (int i = 0; i < 2; ++i) {
    MPI_Status status;
    int class = MPI_SUCCESS;
    const int code = MPI_Recv(buffer, kShort, MPI_BYTE, from, kTruncated, returning, &status);
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_TRUNCATE) fail("truncation was not reported: class %d", class);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  to = (rank + 1) % size;
  from = (rank + size - 1) % size;
  open_truth(argc > 1 ? argv[1] : NULL, rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &returning);
  MPI_Comm_set_name(returning, "Returning");
  MPI_Comm_set_errhandler(returning, MPI_ERRORS_RETURN);
  cancel_before();
  cancel_beside();
  free_active();
  run_in_turns(send_too_much, receive_too_little);
  MPI_Request never;
  unsigned char* nothing = post(kBytes, kNever, &never);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request_free(&never);
  if (rank == 0) printf("cancels: all is right\n");
  MPI_Comm_free(&returning);
  close_truth();
  MPI_Finalize();
  free(nothing);
  return 0;
}
