// A job that fails on purpose: after a ring exchange, one rank does ACTION.
//
//     faults ACTION RANK MESSAGES [TRUTH-PREFIX]
//
// ACTION: none, segv, abort, kill, terminate, _exit:CODE, exit:CODE, mpiabort:CODE,
//         thread-exits:CODE (another thread ends the process, while this one is in an MPI call),
//         interrupted (by a timer, every 50 us, from before the exchange to the end),
//         commands (runs others by system(), posix_spawn() and vfork()),
//         fork (the child works without MPI), fork-mpi (the child asks MPI for the time),
//         fork-exec (the child becomes another program),
//         hang-until:FILE (makes FILE.ready, then waits for FILE),
//         flood-after:FILE (the same, then makes millions of records, then FILE.done),
//         wait-until:FILE (makes FILE.ready, then waits for a message that the next rank sends once
//         there is FILE; another receive is open meanwhile), and
//         return:CODE (from main, without MPI_Finalize).

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static int rank, size;

static void exchange(int messages) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int tag = 0; tag < messages; ++tag) {
    const size_t bytes = (size_t)(tag * 611 % 20000);
    unsigned char *sent = allocate(bytes), *got = allocate(bytes);
    fill(sent, bytes, (uint64_t)(rank * 1000 + tag));
    MPI_Request request;
    MPI_Irecv(got, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    MPI_Send(sent, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!holds(got, bytes, (uint64_t)(from * 1000 + tag))) fail("wrong contents from %d", from);
    write_truth((struct sent){.src = rank,
                              .dst = to,
                              .bytes = bytes,
                              .tag = tag,
                              .function = "MPI_Send",
                              .comm = "MPI_COMM_WORLD"});
    free(sent);
    free(got);
  }
}

static void expect_child_succeeds(pid_t child) {
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("the child failed");
}

static void run_child(const char* action) {
  const pid_t child = fork();
  if (child == 0) {
    if (strcmp(action, "fork-exec") == 0) {
      execl("/bin/true", "true", (char*)NULL);
      _exit(1);
    }
    if (strcmp(action, "fork-mpi") == 0) _exit(MPI_Wtime() >= 0 ? 0 : 1);
    unsigned char work[4096];
    fill(work, sizeof work, 1);
    _exit(holds(work, sizeof work, 1) ? 0 : 1);
  }
  expect_child_succeeds(child);
}

static void run_commands(void) {
  extern char** environ;
  char* const words[] = {"true", NULL};
  pid_t child;
  if (system("true") != 0) fail("system failed");
  if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) != 0) fail("no posix_spawn");
  expect_child_succeeds(child);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  child = vfork();
  if (child == 0) {
    execv("/bin/true", words);
    _exit(1);
  }
  expect_child_succeeds(child);
}

static volatile sig_atomic_t interruptions;
static void count_interruption(int signal) {
  (void)signal;
  interruptions = interruptions + 1;
}

static void interrupt_often(void) {
  const struct sigaction action = {.sa_handler = count_interruption, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, 50}, {0, 50}};
  if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &often, NULL) != 0) {
    fail("no timer");
  }
}

static void* end_process(void* code) { exit((int)(intptr_t)code); }

// The process ends while this thread waits for a message that nobody sends.
static void end_from_thread(int code) {
  pthread_t thread;
  int nothing;
  if (pthread_create(&thread, NULL, end_process, (void*)(intptr_t)code) != 0) fail("no thread");
  MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void make_file(const char* path, const char* suffix) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%s", path, suffix);
  FILE* file = fopen(name, "w");
  if (file == NULL) fail("cannot write %s", name);
  fclose(file);
}

static void make_record(void) {
  int found;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

enum { kAwaitedTag = 77, kOpenTag = 78 };

static void wait_for_message(const char* path) {
  const int from = (rank + 1) % size;
  int awaited, other = 0;
  MPI_Request request;
  MPI_Irecv(&other, 1, MPI_INT, from, kOpenTag, MPI_COMM_WORLD, &request);
  make_file(path, "ready");
  MPI_Recv(&awaited, 1, MPI_INT, from, kAwaitedTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_awaited(const char* path, int to) {
  const int value = 1;
  while (access(path, F_OK) != 0) usleep(1000);
  MPI_Send(&value, 1, MPI_INT, to, kAwaitedTag, MPI_COMM_WORLD);
  MPI_Send(&value, 1, MPI_INT, to, kOpenTag, MPI_COMM_WORLD);
}

static void hang_until(const char* path) {
  make_file(path, "ready");
  while (access(path, F_OK) != 0) {
    make_record();
    usleep(1000);  // no flood while the test checks
  }
}

static void flood_after(const char* path) {
  hang_until(path);
  for (int i = 0; i < 4000000; ++i) make_record();
  make_file(path, "done");
}

static void act(const char* action) {
  const char* colon = strchr(action, ':');
  const char* argument = colon != NULL ? colon + 1 : "";
  const int code = atoi(argument);
  const size_t length = colon != NULL ? (size_t)(colon - action) : strlen(action);
  char name[32] = "";
  memcpy(name, action, length < sizeof name ? length : sizeof name - 1);

  if (strcmp(name, "segv") == 0) {
    volatile int* volatile nowhere = NULL;
    *nowhere = 1;
  } else if (strcmp(name, "abort") == 0) {
    abort();
  } else if (strcmp(name, "kill") == 0) {
    raise(SIGKILL);
  } else if (strcmp(name, "terminate") == 0) {
    raise(SIGTERM);
  } else if (strcmp(name, "thread-exits") == 0) {
    end_from_thread(code);
  } else if (strcmp(name, "commands") == 0) {
    run_commands();
  } else if (strcmp(name, "_exit") == 0) {
    _exit(code);
  } else if (strcmp(name, "exit") == 0) {
    exit(code);
  } else if (strcmp(name, "mpiabort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, code);
  } else if (strncmp(name, "fork", 4) == 0) {
    run_child(name);
  } else if (strcmp(name, "hang-until") == 0) {
    hang_until(argument);
  } else if (strcmp(name, "flood-after") == 0) {
    flood_after(argument);
  } else if (strcmp(name, "wait-until") == 0) {
    wait_for_message(argument);
  } else if (strcmp(name, "interrupted") == 0) {
    if (interruptions == 0) fail("the timer did not fire");
  } else if (strcmp(name, "none") != 0) {
    fail("unknown action %s", action);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 4) fail("usage: faults ACTION RANK MESSAGES [TRUTH-PREFIX]");
  open_truth(argc > 4 ? argv[4] : NULL, rank);
  const int chosen = atoi(argv[2]);
  if (rank == chosen && strcmp(argv[1], "interrupted") == 0) interrupt_often();
  exchange(atoi(argv[3]));
  flush_truth();
  MPI_Barrier(MPI_COMM_WORLD);  // the exchange is complete everywhere
  if (rank == chosen && strncmp(argv[1], "return:", 7) == 0) return atoi(argv[1] + 7);
  if (rank == chosen) act(argv[1]);
  if (rank == (chosen + 1) % size && strncmp(argv[1], "wait-until:", 11) == 0) {
    send_awaited(argv[1] + 11, chosen);
  }
  exchange(1);
  MPI_Barrier(MPI_COMM_WORLD);
  close_truth();
  if (rank == 0) printf("faults: %s went well\n", argv[1]);
  MPI_Finalize();
  return 0;
}
