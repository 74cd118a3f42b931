// Requests on two communicators, of each process with itself, completed in every way. As truth: for
// each call that takes requests the numbers of those that it was given (-1: none) and of those that
// ended in it; requests have numbers in the order in which the program makes them.
//
//     requests TRUTH-PREFIX

#include "common.h"

enum { kTag = 3, kMost = 300 };

static MPI_Comm comms[2];
static MPI_Request requests[kMost];
static int numbers[kMost];  // of the requests there, -1 = none
static int made;
static char sent[kMost], received[kMost];

static void truth_of(const char* function, const char* list, const int* of, int count) {
  fprintf(truth_file, "%s\"%s\":[", list[0] == 'g' ? "{" : ",", list);
  for (int i = 0; i < count; ++i) fprintf(truth_file, "%s%d", i > 0 ? "," : "", of[i]);
  fputs("]", truth_file);
  if (list[0] == 'e') fprintf(truth_file, ",\"function\":\"MPI_%s\"}\n", function);
}

// A call got the first `count` requests, and those at the places `ended` ended.
static void took(const char* function, int count, int ended_count, const int* ended) {
  int ended_numbers[kMost];
  truth_of(function, "given", numbers, count);
  for (int i = 0; i < ended_count; ++i) {
    ended_numbers[i] = numbers[ended[i]];
    numbers[ended[i]] = -1;
  }
  truth_of(function, "ended", ended_numbers, ended_count);
}

static void took_all(const char* function, int count) {
  int places[kMost];
  for (int i = 0; i < count; ++i) places[i] = i;
  took(function, count, count, places);
}

// Fills the places [0, count) with receives and sends on the two communicators in turn.
static void start(int count) {
  for (int i = 0; i < count; i += 2) {
    MPI_Comm comm = comms[i / 2 % 2];
    numbers[i] = made++;
    numbers[i + 1] = made++;
    MPI_Irecv(&received[i], 1, MPI_CHAR, 0, kTag, comm, &requests[i]);
    MPI_Isend(&sent[i], 1, MPI_CHAR, 0, kTag, comm, &requests[i + 1]);
  }
}

static void waits(void) {
  start(4);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  took_all("Waitall", 4);
  start(kMost);  // more than one record holds
  MPI_Waitall(kMost, requests, MPI_STATUSES_IGNORE);
  took_all("Waitall", kMost);
  start(4);
  for (int left = 4; left > 0; --left) {
    int place;
    MPI_Waitany(4, requests, &place, MPI_STATUS_IGNORE);
    took("Waitany", 4, 1, &place);
  }
  start(4);
  for (int left = 4; left > 0;) {
    int places[4], count;
    MPI_Waitsome(4, requests, &count, places, MPI_STATUSES_IGNORE);
    took("Waitsome", 4, count, places);
    left -= count;
  }
}

static void tests(void) {
  int done = 0;
  start(4);
  while (!done) MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
  took_all("Testall", 4);
  start(4);
  for (int left = 4; left > 0;) {
    int place;
    MPI_Testany(4, requests, &place, &done, MPI_STATUS_IGNORE);
    if (!done) continue;
    took("Testany", 4, 1, &place);
    --left;
  }
  start(4);
  for (int left = 4; left > 0;) {
    int places[4], count;
    MPI_Testsome(4, requests, &count, places, MPI_STATUSES_IGNORE);
    if (count == 0) continue;
    took("Testsome", 4, count, places);
    left -= count;
  }
}

// Nothing to wait for, or to test: no request ends.
static void nothing(void) {
  int place = 0, places[2], done = 0, count = 0;
  for (int i = 0; i < 2; ++i) {
    requests[i] = MPI_REQUEST_NULL;
    numbers[i] = -1;
  }
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
  if (place != MPI_UNDEFINED) fail("MPI_Waitany of no request gave %d", place);
  took("Waitany", 2, 0, NULL);
  MPI_Testany(2, requests, &place, &done, MPI_STATUS_IGNORE);
  if (!done || place != MPI_UNDEFINED) fail("MPI_Testany of no request gave %d", place);
  MPI_Waitsome(2, requests, &count, places, MPI_STATUSES_IGNORE);
  took("Waitsome", 2, 0, NULL);
}

static void persistent(void) {
  numbers[0] = made++;
  numbers[1] = made++;
  MPI_Recv_init(received, 1, MPI_CHAR, 0, kTag, comms[1], &requests[0]);
  MPI_Send_init(sent, 1, MPI_CHAR, 0, kTag, comms[1], &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    took("Startall", 2, 0, NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    const int kept[2] = {numbers[0], numbers[1]};
    took_all("Waitall", 2);
    memcpy(numbers, kept, sizeof kept);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// A probed message has a number as a request has.
static void probed(void) {
  MPI_Request sending;
  MPI_Message message;
  int found = 0;
  ++made;  // the send's
  MPI_Isend(sent, 1, MPI_CHAR, 0, kTag, comms[0], &sending);
  while (!found) MPI_Improbe(0, kTag, comms[0], &found, &message, MPI_STATUS_IGNORE);
  numbers[0] = made++;
  MPI_Imrecv(received, 1, MPI_CHAR, &message, &requests[0]);
  took("Imrecv", 1, 0, NULL);
  numbers[0] = made++;
  requests[1] = sending;
  numbers[1] = numbers[0] - 2;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  took_all("Waitall", 2);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) fail("usage: requests TRUTH-PREFIX");
  open_truth(argv[1], rank);
  MPI_Barrier(MPI_COMM_WORLD);  // MPICH does not use UCX for messages to the process itself
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
  waits();
  tests();
  nothing();
  persistent();
  probed();
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  close_truth();
  MPI_Finalize();
  return 0;
}
