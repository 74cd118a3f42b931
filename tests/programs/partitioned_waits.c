// Partitioned messages from rank 0 to rank 1 with delays of known length, and the resulting times
// by the program's own clock: one JSON object a line on standard output. A time is two readings of
// the clock, before and after the call.
//
//     partitioned_waits single|threads DELAY-MS REPETITIONS SCENARIO...
//
// A scenario is VARIANT,HOW,THREADS,PARTITIONS-OF-EACH,RECEIVE-PARTITIONS. The variants are those
// of Thaerigen, Hermanns and Geimer (SC-W 2023), section 4.1.3, and two more:
//   nls   the receiver is delayed before it waits: no late sender
//   fls   the sender is delayed once, before any partition is ready
//   vls   each thread of the sender is delayed before each of its partitions
//   late  the receiver is delayed before it starts: the sender waits
//   polls as fls, and the receiver polls until all has arrived: nobody waits
// Partitions become ready one by one (each), by MPI_Pready_range or by MPI_Pready_list.
#include <pthread.h>
#include <time.h>

#include "common.h"

enum { kMostThreads = 16, kMostPartitions = 64, kFirstTag = 100, kTimesTag = 1, kAskedTag = 2 };

struct scenario {
  int number, threads, each, receives;
  char variant[8], how[8];
};

static int rank;
static int64_t delay_ns;
static long found, not_found;  // answers of MPI_Parrived
static int64_t asked_ns;       // time for these questions

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// A call was entered and left between these.
struct span {
  int64_t before_ns, after_ns;
};

static void delay(void) {
  const int64_t until = now_ns() + delay_ns;
  const struct timespec time = {until / 1000000000, until % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int is(const struct scenario* scenario, const char* variant) {
  return strcmp(scenario->variant, variant) == 0;
}

static int sends_of(const struct scenario* scenario) { return scenario->threads * scenario->each; }

// --- sender --------------------------------------------------------------------------------------

struct worker {
  const struct scenario* scenario;
  MPI_Request request;
  int first;          // of its partitions
  struct span ready;  // of the last of them
};

static void* make_ready(void* argument) {
  struct worker* worker = argument;
  const struct scenario* scenario = worker->scenario;
  const int first = worker->first, last = first + scenario->each - 1;
  if (strcmp(scenario->how, "range") == 0) {
    worker->ready.before_ns = now_ns();
    MPI_Pready_range(first, last, worker->request);
  } else if (strcmp(scenario->how, "list") == 0) {
    int list[kMostPartitions];
    for (int i = 0; i < scenario->each; ++i) list[i] = last - i;
    worker->ready.before_ns = now_ns();
    MPI_Pready_list(scenario->each, list, worker->request);
  } else {
    for (int i = first; i <= last; ++i) {
      if (is(scenario, "vls")) delay();
      worker->ready.before_ns = now_ns();
      MPI_Pready(i, worker->request);
    }
  }
  worker->ready.after_ns = now_ns();
  return NULL;
}

// When the last partition was made ready.
static struct span make_all_ready(const struct scenario* scenario, MPI_Request request) {
  struct worker workers[kMostThreads];
  pthread_t threads[kMostThreads];
  struct span last = {0, 0};
  for (int i = 0; i < scenario->threads; ++i) {
    workers[i] = (struct worker){scenario, request, i * scenario->each, {0, 0}};
    if (scenario->threads == 1) {
      make_ready(&workers[i]);
    } else if (pthread_create(&threads[i], NULL, make_ready, &workers[i]) != 0) {
      fail("no thread");
    }
  }
  for (int i = 0; i < scenario->threads; ++i) {
    if (scenario->threads > 1) pthread_join(threads[i], NULL);
    const struct span ready = workers[i].ready;
    if (ready.before_ns > last.before_ns) last.before_ns = ready.before_ns;
    if (ready.after_ns > last.after_ns) last.after_ns = ready.after_ns;
  }
  return last;
}

struct sender_times {
  struct span ready, wait;
};

static struct sender_times send_once(const struct scenario* scenario, MPI_Request* request) {
  struct sender_times times;
  MPI_Start(request);
  if (is(scenario, "fls")) {  // the receiver has asked for each partition
    MPI_Recv(NULL, 0, MPI_BYTE, 1, kAskedTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (is(scenario, "fls") || is(scenario, "polls")) delay();
  times.ready = make_all_ready(scenario, *request);
  times.wait.before_ns = now_ns();
  MPI_Wait(request, MPI_STATUS_IGNORE);
  times.wait.after_ns = now_ns();
  return times;
}

// --- receiver ------------------------------------------------------------------------------------

struct receiver_times {
  struct span start, wait;
};

static int has_arrived(MPI_Request request, int partition) {
  int arrived = 0;
  MPI_Parrived(request, partition, &arrived);
  arrived ? ++found : ++not_found;
  return arrived;
}

static struct receiver_times receive_once(const struct scenario* scenario, MPI_Request* request) {
  struct receiver_times times;
  if (is(scenario, "late")) delay();
  times.start.before_ns = now_ns();
  MPI_Start(request);
  times.start.after_ns = now_ns();
  if (is(scenario, "nls")) delay();
  const int64_t began_ns = now_ns();
  for (int i = 0; i < scenario->receives; ++i) {
    while (!has_arrived(*request, i) && is(scenario, "polls")) {
    }
  }
  asked_ns += now_ns() - began_ns;
  if (is(scenario, "fls")) MPI_Send(NULL, 0, MPI_BYTE, 0, kAskedTag, MPI_COMM_WORLD);
  times.wait.before_ns = now_ns();
  MPI_Wait(request, MPI_STATUS_IGNORE);
  times.wait.after_ns = now_ns();
  return times;
}

// --- both ----------------------------------------------------------------------------------------

static void tell_span(const char* name, struct span span) {
  printf(",\"%s\":[%lld,%lld]", name, (long long)span.before_ns, (long long)span.after_ns);
}

static void tell(const struct scenario* scenario, int repetition, size_t bytes,
                 struct sender_times sender, struct receiver_times receiver) {
  printf(
      "{\"scenario\":%d,\"variant\":\"%s\",\"tag\":%d,\"use\":%d,\"sends\":%d,\"receives\":%d,"
      "\"bytes\":%zu",
      scenario->number, scenario->variant, kFirstTag + scenario->number, repetition,
      sends_of(scenario), scenario->receives, bytes);
  tell_span("ready", sender.ready);
  tell_span("send_wait", sender.wait);
  tell_span("start", receiver.start);
  tell_span("receive_wait", receiver.wait);
  printf("}\n");
}

static void run_scenario(const struct scenario* scenario, int repetitions) {
  const int sends = sends_of(scenario), tag = kFirstTag + scenario->number;
  const size_t bytes = (size_t)sends * (size_t)scenario->receives;
  unsigned char* const data = allocate(bytes);
  const int parts = rank == 0 ? sends : scenario->receives;
  const MPI_Count count = (MPI_Count)(bytes / (size_t)parts);
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, parts, count, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(data, parts, count, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  for (int i = 0; i < repetitions; ++i) {
    struct sender_times sender;
    const uint64_t seed = (uint64_t)tag << 32 | (uint64_t)i;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      fill(data, bytes, seed);
      sender = send_once(scenario, &request);
      MPI_Send(&sender, sizeof sender, MPI_BYTE, 1, kTimesTag, MPI_COMM_WORLD);
    } else {
      const struct receiver_times receiver = receive_once(scenario, &request);
      if (!holds(data, bytes, seed)) fail("wrong contents in scenario %d", scenario->number);
      MPI_Recv(&sender, sizeof sender, MPI_BYTE, 0, kTimesTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      tell(scenario, i, bytes, sender, receiver);
    }
  }
  MPI_Request_free(&request);
  free(data);
}

static struct scenario read_scenario(const char* text, int number) {
  struct scenario scenario = {.number = number};
  if (sscanf(text, "%7[a-z],%7[a-z],%d,%d,%d", scenario.variant, scenario.how, &scenario.threads,
             &scenario.each, &scenario.receives) != 5 ||
      scenario.threads < 1 || scenario.threads > kMostThreads || scenario.each < 1 ||
      scenario.each > kMostPartitions || scenario.receives < 1) {
    fail("no scenario: %s", text);
  }
  return scenario;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int threads = strcmp(argv[1], "threads") == 0;
  const int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < wanted) fail("this MPI has no MPI_THREAD_MULTIPLE");
  delay_ns = atoll(argv[2]) * 1000000;
  const int repetitions = atoi(argv[3]);
  for (int i = 4; i < argc; ++i) {
    const struct scenario scenario = read_scenario(argv[i], i - 4);
    run_scenario(&scenario, repetitions);
  }
  if (rank == 1) {
    printf("{\"found\":%ld,\"not_found\":%ld,\"asked_ns\":%lld}\n", found, not_found,
           (long long)asked_ns);
  }
  MPI_Finalize();
  return 0;
}
