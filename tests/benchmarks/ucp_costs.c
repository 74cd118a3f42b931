// The cost of one message in a program that uses UCP without MPI, batch by batch, and how long the
// process takes to end afterwards.
//
// usage: ucp_costs CASE BYTES BATCHES OPERATIONS PAUSE_US
//   self   a receive and a send of the worker to itself
//   pair   a send and a receive in turns between two processes; an operation is one way
// The pause is that of message_costs.c. Prints what that prints, and the instant of its end.
#include <stdbool.h>

#include "../programs/ucp_pair.h"
#include "measure.h"

enum { kTag = 1 };

static struct {
  bool is_pair;
  size_t bytes;
  unsigned long batches, operations, pause_us;
} plan;

static unsigned char *out, *in;
static const ucp_request_param_t defaults;

static ucs_status_ptr_t post_receive(struct side* side) {
  return ucp_tag_recv_nbx(side->worker, in, plan.bytes, kTag, UINT64_MAX, &defaults);
}

static void send_to(struct side* side, ucp_ep_h endpoint) {
  finish(side, ucp_tag_send_nbx(endpoint, out, plan.bytes, kTag, &defaults), "ucp_tag_send_nbx");
}

static void exchange_with_self(struct side* side) {
  for (unsigned long i = 0; i < plan.operations; ++i) {
    ucs_status_ptr_t receive = post_receive(side);
    send_to(side, side->to_self);
    finish(side, receive, "ucp_tag_recv_nbx");
  }
}

// Two operations a turn: there and back.
static void play_ping_pong(struct side* side) {
  for (unsigned long i = 0; i < plan.operations; i += 2) {
    if (side->number == 0) send_to(side, side->to_other);
    finish(side, post_receive(side), "ucp_tag_recv_nbx");
    if (side->number == 1) send_to(side, side->to_other);
  }
}

static void measure(struct side* side) {
  void (*body)(struct side*) = plan.is_pair ? play_ping_pong : exchange_with_self;
  struct costs costs = allocate_costs(plan.batches);
  body(side);  // connections, caches
  start_costs(&costs);
  for (unsigned long i = 0; i < plan.batches; ++i) {
    start_batch(&costs, plan.pause_us);
    body(side);
    end_batch(&costs);
  }
  end_costs(&costs);
  if (side->number == 0) print_costs(&costs, plan.operations);
}

// The other process has nothing to do while one sends to itself, and must not use a core for it.
static void wait_asleep(struct side* side) {
  char over = 1;
  if (side->number == 0) {
    write_all(side->channel, &over, 1);
  } else {
    read_all(side->channel, &over, 1);
  }
}

static void run_side(struct side* side) {
  open_side(side, UCP_FEATURE_TAG);
  if (plan.is_pair || side->number == 0) measure(side);
  if (!plan.is_pair) wait_asleep(side);
  meet(side);
  close_side(side);
}

int main(int argc, char** argv) {
  program = argv[0];
  if (argc != 6 || (strcmp(argv[1], "self") != 0 && strcmp(argv[1], "pair") != 0)) {
    fprintf(stderr, "usage: ucp_costs self|pair BYTES BATCHES OPERATIONS PAUSE_US\n");
    return 2;
  }
  plan.is_pair = strcmp(argv[1], "pair") == 0;
  plan.bytes = number_argument(argc, argv, 2);
  plan.batches = number_argument(argc, argv, 3);
  plan.operations = number_argument(argc, argv, 4);
  plan.pause_us = number_argument(argc, argv, 5);
  out = make_buffer(plan.bytes);
  in = make_buffer(plan.bytes);
  run_pair(argv[0], run_side);
  printf("\"ended_ns\":%llu}\n", (unsigned long long)clock_ns(CLOCK_MONOTONIC));
  return 0;
}
