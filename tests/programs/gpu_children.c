// A process with a GPU that watches its children: while the topology of its node is read, it has no
// children that it did not create, gets no SIGCHLD, and none of its descriptors is reused.
//
//     gpu_children [FILE]
//
// Continues until FILE, the topology, exists, if it is given.

#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ucp_self.h"

static atomic_int signals, forks;
static void count_signal(int number) {
  (void)number;
  atomic_fetch_add(&signals, 1);
}
static void count_fork(void) { atomic_fetch_add(&forks, 1); }

// The number that the next file gets.
static int next_file(void) {
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  check(file >= 0, "open");
  close(file);
  return file;
}

static void expect_no_child(void) {
  int status;
  check(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD, "having no child");
  check(waitpid(0, &status, WNOHANG) == -1 && errno == ECHILD, "having no child in the group");
}

static void look_around_until(const char* file, int next) {
  const struct timespec pause = {.tv_nsec = 100000};
  const time_t give_up = time(NULL) + 30;
  do {
    expect_no_child();
    check(next_file() == next, "opening the same file again");
    check(time(NULL) < give_up, "waiting for the topology");
    nanosleep(&pause, NULL);
  } while (file != NULL && access(file, F_OK) != 0);
}

int main(int count, char** arguments) {
  int devices = 0;
  const struct sigaction action = {.sa_handler = count_signal};
  check(sigaction(SIGCHLD, &action, NULL) == 0, "sigaction");
  check(pthread_atfork(count_fork, count_fork, count_fork) == 0, "pthread_atfork");
  check(cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&devices) == CUDA_SUCCESS, "cuInit");
  const int messages = exchange_with_self();
  look_around_until(count > 1 ? arguments[1] : NULL, next_file());
  check(atomic_load(&signals) == 0 && atomic_load(&forks) == 0, "hearing of no child");

  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status;
  pid_t ended;
  while ((ended = waitpid(-1, &status, 0)) == -1 && errno == EINTR) {
  }
  check(ended == child && WEXITSTATUS(status) == 7, "waiting for the own child");
  check(atomic_load(&signals) == 1 && atomic_load(&forks) == 2, "hearing of the own child");
  expect_no_child();
  printf("gpu_children: %d devices, %d messages are right\n", devices, messages);
  return 0;
}
