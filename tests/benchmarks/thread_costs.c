// The cost of one message for each of several threads that use UCP at the same time, each with its
// own worker. Data shared between a recorder's threads shows as a cost that grows with their
// number, although each does the same.
//
// usage: thread_costs THREADS BYTES BATCHES OPERATIONS PAUSE_US
// An operation is a receive and a send of the worker to itself. Batches begin together. Prints what
// ucp_costs prints, with the mean over the threads of a batch.
#include <pthread.h>

#include "../programs/ucp_self.h"
#include "measure.h"

enum { kMostThreads = 64 };

static struct { unsigned long threads, bytes, batches, operations, pause_us; } plan;

static pthread_barrier_t together;
static struct costs costs[kMostThreads];

static void exchange(struct node node, unsigned char* memory) {
  const ucp_request_param_t defaults = {0};
  for (unsigned long i = 0; i < plan.operations; ++i) {
    ucs_status_ptr_t receive =
        ucp_tag_recv_nbx(node.worker, memory, plan.bytes, 1, UINT64_MAX, &defaults);
    ucs_status_ptr_t send =
        ucp_tag_send_nbx(node.endpoint, memory + plan.bytes, plan.bytes, 1, &defaults);
    finish(node.worker, send, "ucp_tag_send_nbx");
    finish(node.worker, receive, "ucp_tag_recv_nbx");
  }
}

static void* run_thread(void* own) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  unsigned char* memory = calloc(2, plan.bytes + 1);
  check(memory != NULL, "calloc");
  check(ucp_init(&params, NULL, &context) == UCS_OK, "ucp_init");
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  exchange(node, memory);  // connections, caches
  pthread_barrier_wait(&together);
  start_costs(own);
  for (unsigned long i = 0; i < plan.batches; ++i) {
    pthread_barrier_wait(&together);
    start_batch(own, plan.pause_us);
    exchange(node, memory);
    end_batch(own);
  }
  end_costs(own);
  pthread_barrier_wait(&together);
  close_node(node);
  ucp_cleanup(context);
  free(memory);
  return NULL;
}

// Into the costs of the first thread.
static void take_means(void) {
  for (unsigned long batch = 0; batch < plan.batches; ++batch) {
    uint64_t cpu = 0, wall = 0;
    for (unsigned long i = 0; i < plan.threads; ++i) {
      cpu += costs[i].cpu[batch];
      wall += costs[i].wall[batch];
    }
    costs[0].cpu[batch] = cpu / plan.threads;
    costs[0].wall[batch] = wall / plan.threads;
  }
}

int main(int argc, char** argv) {
  pthread_t threads[kMostThreads];
  plan.threads = number_argument(argc, argv, 1);
  plan.bytes = number_argument(argc, argv, 2);
  plan.batches = number_argument(argc, argv, 3);
  plan.operations = number_argument(argc, argv, 4);
  plan.pause_us = number_argument(argc, argv, 5);
  check(plan.threads > 0 && plan.threads <= kMostThreads, "reading the number of threads");
  pthread_barrier_init(&together, NULL, (unsigned)plan.threads);
  for (unsigned long i = 0; i < plan.threads; ++i) {
    costs[i] = allocate_costs(plan.batches);
    check(pthread_create(&threads[i], NULL, run_thread, &costs[i]) == 0, "pthread_create");
  }
  for (unsigned long i = 0; i < plan.threads; ++i) pthread_join(threads[i], NULL);
  take_means();
  print_costs(&costs[0], plan.operations);
  print_memory();
  printf("}\n");
  return 0;
}
