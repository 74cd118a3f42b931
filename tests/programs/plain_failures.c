// Operations that fail, through UCP without any MPI: a receive that is cancelled, one that is
// truncated, a send whose endpoint is closed by force, and all that is in progress when the other
// process dies. Prints the status that each ended with.
//
//     plain_failures signal|exit

#include "ucp_pair.h"

enum { kConnect, kShort, kNever, kUnwanted, kBytes = 1 << 20, kTruncated = 100, kRoom = 10 };

static unsigned errors_told;

static void on_error(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  (void)argument, (void)endpoint, (void)status;
  ++errors_told;
}

static ucp_ep_h connect_with_errors(struct side* side) {
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                  .address = side->other,
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {.cb = on_error}};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(side->worker, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

// Until it has ended, which it must with an error.
static void expect_error(struct side* side, ucs_status_ptr_t request, const char* what) {
  ucs_status_t status = UCS_PTR_STATUS(request);
  if (UCS_PTR_IS_PTR(request)) {
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
      ucp_worker_progress(side->worker);
    }
    ucp_request_free(request);
  }
  check(status < 0, what);
  printf("%s: %s\n", what, ucs_status_string(status));
}

static void exchange(struct side* side, ucp_ep_h endpoint) {
  const ucp_request_param_t defaults = {0};
  char sent = 1, got = 0;
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, &got, 1, kConnect, UINT64_MAX, &defaults);
  finish(side, ucp_tag_send_nbx(endpoint, &sent, 1, kConnect, &defaults), "sending");
  finish(side, receive, "receiving");
}

static void fail_alone(struct side* side, ucp_ep_h endpoint) {
  const ucp_request_param_t defaults = {0};
  unsigned char *data = make_buffer(kBytes), room[kRoom];
  ucs_status_ptr_t request =
      ucp_tag_recv_nbx(side->worker, data, kBytes, kNever, UINT64_MAX, &defaults);
  ucp_request_cancel(side->worker, request);
  expect_error(side, request, "cancelled receive");
  request = ucp_tag_recv_nbx(side->worker, room, kRoom, kShort, UINT64_MAX, &defaults);
  finish(side, ucp_tag_send_nbx(side->to_self, data, kTruncated, kShort, &defaults), "sending");
  expect_error(side, request, "truncated receive");
  // A rendezvous without an answer: the endpoint that it waits for is closed.
  request = ucp_tag_send_nbx(endpoint, data, kBytes, kUnwanted, &defaults);
  const ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                        .flags = UCP_EP_CLOSE_FLAG_FORCE};
  ucs_status_ptr_t closing = ucp_ep_close_nbx(endpoint, &by_force);
  expect_error(side, request, "send over an endpoint closed by force");
  finish(side, closing, "ucp_ep_close_nbx");
  free(data);
}

static void survive(struct side* side, ucp_ep_h endpoint, pid_t other) {
  const ucp_request_param_t defaults = {0};
  const ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                        .flags = UCP_EP_CLOSE_FLAG_FORCE};
  unsigned char* data = make_buffer(kBytes);
  ucs_status_ptr_t sends[] = {
      ucp_tag_send_nbx(endpoint, data, kBytes, kUnwanted, &defaults),
      ucp_tag_send_sync_nbx(endpoint, data, kTruncated, kUnwanted, &defaults)};
  const char die = 1;
  write_all(side->channel, &die, 1);
  check(waitpid(other, NULL, 0) == other, "waiting for the other process");
  expect_error(side, sends[0], "rendezvous with a process that died");
  expect_error(side, sends[1], "synchronous send to a process that died");
  expect_error(side, ucp_tag_send_nbx(endpoint, data, kBytes, kUnwanted, &defaults),
               "send to a process that is dead");
  check(errors_told == 1, "telling of the error");
  ucs_status_ptr_t closing = ucp_ep_close_nbx(endpoint, &by_force);
  if (UCS_PTR_IS_PTR(closing)) finish(side, closing, "ucp_ep_close_nbx");
  free(data);
}

static void die(struct side* side, const char* how) {
  char now;
  read_all(side->channel, &now, 1);
  if (strcmp(how, "signal") == 0) raise(SIGKILL);
  _exit(3);
}

int main(int argc, char** argv) {
  program = "plain_failures";
  check(argc == 2, "reading the arguments");
  int channel[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair");
  const pid_t parent = getpid(), child = fork();  // before any use of UCX
  check(child >= 0, "fork");
  if (child == 0) {
    check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "prctl");
    check(getppid() == parent, "finding the parent");
  }
  struct side side = {.number = child == 0, .channel = channel[child == 0]};
  close(channel[child != 0]);
  open_side(&side, UCP_FEATURE_TAG);
  const ucp_ep_h doomed = connect_with_errors(&side), given_up = connect_with_errors(&side);
  exchange(&side, doomed);
  exchange(&side, given_up);
  meet(&side);
  if (child == 0) die(&side, argv[1]);
  fail_alone(&side, given_up);
  survive(&side, doomed, child);
  close_endpoint(&side, side.to_self);
  close_endpoint(&side, side.to_other);
  ucp_worker_destroy(side.worker);
  ucp_cleanup(side.context);
  free(side.other);
  return 0;
}
