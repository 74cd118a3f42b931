// Threads that use UCP at the same time, all to their own process.
//
//     ucp_threads own THREADS MESSAGES      each thread has a worker of its own
//     ucp_threads shared THREADS MESSAGES   one worker for all (UCS_THREAD_MODE_MULTI)
//     ucp_threads short THREADS MESSAGES    the same, and a thread ends after four messages; eight
//                                           live at once
//     ucp_threads crowd THREADS MESSAGES    one worker for all, and all live at once
//     ucp_threads orphaned THREADS MESSAGES the same, one after the other, once a sandbox has
//                                           ended who makes the log
//
// Each thread sends with tags of its own: (thread + 1) << 32 | number. Receives of `shared` may end
// on any thread, also after the one that posted them has ended.

#include <pthread.h>
#include <sched.h>

#include "sandbox.h"
#include "ucp_self.h"

enum { kShortMessages = 4, kLiving = 8, kMostThreads = 1024 };
static const size_t kSizes[] = {8, 100, 8000, 20000};

static ucp_context_h context;
static struct node common;
static int own_workers, messages, all_at_once, in_turn;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static void* exchange(void* argument) {
  const ucp_tag_t thread = (ucp_tag_t)(uintptr_t)argument + 1;
  const struct node node = own_workers ? open_node(context, UCS_THREAD_MODE_SINGLE) : common;
  if (in_turn) pthread_mutex_lock(&turn);
  for (int i = 0; i < messages; ++i) {
    send_to_self(node.worker, node.endpoint, thread << 32 | (ucp_tag_t)i, kSizes[i % 4]);
  }
  if (in_turn) pthread_mutex_unlock(&turn);
  if (own_workers) close_node(node);
  if (all_at_once) pthread_barrier_wait(&all);
  return NULL;
}

// More than the prepared chunks: then the helper has to create files or memory, and is killed.
static void lose_helper(void) {
  enum { kMany = 40000 };
  const ucp_tag_t tag = (ucp_tag_t)kMostThreads << 32;
  enter_sandbox("thread");
  for (int i = 0; i < kMany; ++i) send_to_self(common.worker, common.endpoint, tag, 8);
}

static void run_threads(int threads, int at_once) {
  pthread_t started[kMostThreads];
  for (int i = 0; i < threads; ++i) {
    if (i >= at_once) pthread_join(started[i - at_once], NULL);
    check(pthread_create(&started[i], NULL, exchange, (void*)(uintptr_t)i) == 0, "pthread_create");
  }
  for (int i = threads > at_once ? threads - at_once : 0; i < threads; ++i) {
    pthread_join(started[i], NULL);
  }
}

int main(int count, char** arguments) {
  check(count == 4, "usage: ucp_threads own|shared|short|crowd|orphaned THREADS MESSAGES, which");
  const int threads = atoi(arguments[2]);
  const int live_shortly = strcmp(arguments[1], "short") == 0;
  own_workers = strcmp(arguments[1], "own") == 0;
  messages = live_shortly ? kShortMessages : atoi(arguments[3]);
  check(threads > 0 && threads <= kMostThreads, "reading the number of threads");
  const ucp_params_t params = {
      .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
      .features = UCP_FEATURE_TAG,
      .mt_workers_shared = 1};
  check(ucp_init(&params, NULL, &context) == UCS_OK, "ucp_init");
  if (!own_workers) common = open_node(context, UCS_THREAD_MODE_MULTI);
  in_turn = strcmp(arguments[1], "orphaned") == 0;
  if (in_turn) lose_helper();
  all_at_once = in_turn || strcmp(arguments[1], "crowd") == 0;
  pthread_barrier_init(&all, NULL, (unsigned)threads);
  run_threads(threads, live_shortly ? kLiving : threads);
  if (!own_workers) close_node(common);
  ucp_cleanup(context);
  printf("ucp_threads: %d x %d messages are right\n", threads, messages);
  return 0;
}
