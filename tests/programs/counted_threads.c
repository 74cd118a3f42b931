// Counts its threads, as do programs that distribute cores among them or have a limit on threads.
//
//     counted_threads          how many there are once UCX has started, and whether all may run on the
//                              same cores as the first
//     counted_threads LIMIT    how many more it can start, the user's threads being limited to LIMIT
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ucp_self.h"

struct threads {
  int count, on_the_same_cores;
};

static struct threads count_threads(void) {
  struct threads threads = {0, 0};
  cpu_set_t of_first, of_thread;
  check(sched_getaffinity(0, sizeof of_first, &of_first) == 0, "sched_getaffinity");
  DIR* tasks = opendir("/proc/self/task");
  check(tasks != NULL, "opendir");
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    ++threads.count;
    threads.on_the_same_cores += sched_getaffinity(atoi(entry->d_name), sizeof of_thread, &of_thread) == 0 &&
                                 CPU_EQUAL(&of_first, &of_thread);
  }
  closedir(tasks);
  return threads;
}

static void* wait_for_the_end(void* unused) {
  for (;;) pause();
  return unused;
}

static int start_threads(int limit) {
  const struct rlimit at_most = {(rlim_t)limit, (rlim_t)limit};
  check(setrlimit(RLIMIT_NPROC, &at_most) == 0, "setrlimit");
  pthread_t thread;
  int started = 0;
  while (started <= limit && pthread_create(&thread, NULL, wait_for_the_end, NULL) == 0) ++started;
  return started;
}

int main(int argc, char** argv) {
  ucp_context_h context = open_context();
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  send_each_size(node);
  const struct threads threads = count_threads();
  printf("%d threads, %d on the same cores\n", threads.count, threads.on_the_same_cores);
  if (argc > 1) printf("%d more started\n", start_threads(atoi(argv[1])));
  send_each_size(node);
  close_node(node);
  ucp_cleanup(context);
  return 0;
}
