// One process with very many endpoints or operations of UCP at once.
//
//     many_ucp endpoints N      a hub with an endpoint to each of N workers, which have one to it;
//                               a message each way over each of them
//     many_ucp outstanding N    N receives and N sends between two workers, all posted before any
//                               of them may complete
//     many_ucp outstanding N CIRCUMSTANCE   the same while the program does odd things to itself

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "circumstances.h"

static const ucp_request_param_t kDefaults = {0};
static ucp_context_h context;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "many_ucp: %s failed\n", what);
  exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  check(status == UCS_OK, status == UCS_OK ? what : ucs_status_string(status));
}

static void* allocate(size_t count, size_t bytes) {
  void* memory = calloc(count, bytes);
  check(memory != NULL, "calloc");
  return memory;
}

struct node {
  ucp_worker_h worker;
  ucp_address_t* address;
};

static struct node open_node(void) {
  const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                      .thread_mode = UCS_THREAD_MODE_SINGLE};
  struct node node;
  size_t bytes;
  check_ucs(ucp_worker_create(context, &params, &node.worker), "ucp_worker_create");
  check_ucs(ucp_worker_get_address(node.worker, &node.address, &bytes), "ucp_worker_get_address");
  return node;
}

static void close_node(struct node node) {
  ucp_worker_release_address(node.worker, node.address);
  ucp_worker_destroy(node.worker);
}

static ucp_ep_h connect_nodes(struct node from, struct node to) {
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                  .address = to.address};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(from.worker, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

static int is_done(ucs_status_ptr_t request) {
  if (request == NULL) return 1;
  check(!UCS_PTR_IS_ERR(request), "an operation");
  return ucp_request_check_status(request) != UCS_INPROGRESS;
}

static void finish(ucs_status_ptr_t request, ucp_worker_h first, ucp_worker_h second) {
  while (!is_done(request)) {
    ucp_worker_progress(first);
    ucp_worker_progress(second);
  }
  if (request == NULL) return;
  check_ucs(ucp_request_check_status(request), "an operation");
  ucp_request_free(request);
}

static void exchange(struct node from, ucp_ep_h endpoint, struct node to, uint64_t number) {
  uint64_t got = 0;
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(to.worker, &got, sizeof got, number, UINT64_MAX, &kDefaults);
  ucs_status_ptr_t send = ucp_tag_send_nbx(endpoint, &number, sizeof number, number, &kDefaults);
  finish(send, from.worker, to.worker);
  finish(receive, from.worker, to.worker);
  check(got == number, "comparing contents");
}

static void run_endpoints(size_t count) {
  const struct node hub = open_node();
  struct node* leaves = allocate(count, sizeof *leaves);
  ucp_ep_h* there = allocate(count, sizeof *there);
  ucp_ep_h* back = allocate(count, sizeof *back);
  for (size_t i = 0; i < count; ++i) {
    leaves[i] = open_node();
    there[i] = connect_nodes(hub, leaves[i]);
    back[i] = connect_nodes(leaves[i], hub);
  }
  for (size_t i = 0; i < count; ++i) {
    exchange(hub, there[i], leaves[i], 2 * i);
    exchange(leaves[i], back[i], hub, 2 * i + 1);
  }
  for (size_t i = 0; i < count; ++i) {
    finish(ucp_ep_close_nbx(there[i], &kDefaults), hub.worker, leaves[i].worker);
    finish(ucp_ep_close_nbx(back[i], &kDefaults), hub.worker, leaves[i].worker);
    close_node(leaves[i]);
  }
  close_node(hub);
  free(back);
  free(there);
  free(leaves);
}

static void fork_inside(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                        void* child) {
  (void)request, (void)status, (void)info;
  *(pid_t*)child = fork();
}

// A receive that ends inside its call, and in whose callback the program forks: both processes
// return.
static void receive_and_fork(struct node from, ucp_ep_h endpoint, struct node to) {
  enum { kTag = 7 };
  uint64_t number = kTag, got = 0;
  pid_t child = -1;
  int status = 1;
  const ucp_request_param_t params = {
      .op_attr_mask =
          UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
      .cb.recv = fork_inside,
      .user_data = &child,
  };
  ucp_tag_recv_info_t info;
  ucs_status_ptr_t send = ucp_tag_send_nbx(endpoint, &number, sizeof number, kTag, &kDefaults);
  while (ucp_tag_probe_nb(to.worker, kTag, UINT64_MAX, 0, &info) == NULL) {
    ucp_worker_progress(from.worker);
    ucp_worker_progress(to.worker);
  }
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(to.worker, &got, sizeof got, kTag, UINT64_MAX, &params);
  if (child == 0) _exit(got != kTag);
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  finish(receive, from.worker, to.worker);
  finish(send, from.worker, to.worker);
}

// Tags recur, so that only the order tells messages of one tag apart.
enum { kTags = 1000 };

static void run_outstanding(size_t count, const char* circumstance) {
  const struct node sender = open_node(), receiver = open_node();
  const ucp_ep_h endpoint = connect_nodes(sender, receiver);
  ucs_status_ptr_t* requests = allocate(2 * count, sizeof *requests);
  uint64_t* numbers = allocate(2 * count, sizeof *numbers);
  exchange(sender, endpoint, receiver, UINT64_MAX);  // connected from here on
  amid_ucx(circumstance);
  if (is(circumstance, "forks-inside")) receive_and_fork(sender, endpoint, receiver);
  for (size_t i = 0; i < count; ++i) {
    requests[i] = ucp_tag_recv_nbx(receiver.worker, &numbers[i], sizeof *numbers, i % kTags,
                                   UINT64_MAX, &kDefaults);
  }
  for (size_t i = 0; i < count; ++i) {
    numbers[count + i] = i;
    requests[count + i] =
        ucp_tag_send_nbx(endpoint, &numbers[count + i], sizeof *numbers, i % kTags, &kDefaults);
  }
  for (size_t i = 0; i < 2 * count; ++i) finish(requests[i], sender.worker, receiver.worker);
  for (size_t i = 0; i < count; ++i) check(numbers[i] == i, "comparing contents");
  check_kept_files();
  finish(ucp_ep_close_nbx(endpoint, &kDefaults), sender.worker, receiver.worker);
  close_node(sender);
  close_node(receiver);
  free(numbers);
  free(requests);
}

int main(int argc, char** argv) {
  check(argc == 3 || argc == 4, "usage: many_ucp endpoints|outstanding N, which");
  const char* circumstance = argc > 3 ? argv[3] : "";
  const size_t count = strtoull(argv[2], NULL, 10);
  if (argc > 3) before_ucx(circumstance);
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  check_ucs(ucp_init(&params, NULL, &context), "ucp_init");
  if (strcmp(argv[1], "endpoints") == 0) {
    run_endpoints(count);
  } else {
    run_outstanding(count, circumstance);
  }
  ucp_cleanup(context);
  printf("many_ucp: %zu %s are right\n", count, argv[1]);
  return 0;
}
