// Shared by the programs that use UCP without any MPI: two processes, each with one worker,
// connected with the other and with themselves.
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static const char* program;

// `channel` connects the processes for what UCP leaves to its users: exchanging addresses and
// synchronizing at the end.
struct side {
  int number, channel;
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h to_other, to_self;
  ucp_address_t* other;  // the other's address
};

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s: %s failed\n", program, what);
  _exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  fprintf(stderr, "%s: %s: %s\n", program, what, ucs_status_string(status));
  _exit(1);
}

static void write_all(int channel, const void* data, size_t bytes) {
  check(write(channel, data, bytes) == (ssize_t)bytes, "write");
}

static void read_all(int channel, void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = read(channel, (char*)data + done, bytes - done);
    check(got > 0, "read");
    done += (size_t)got;
  }
}

static unsigned char* make_buffer(size_t bytes) {
  unsigned char* buffer = malloc(bytes + 1);
  check(buffer != NULL, "malloc");
  return buffer;
}

static inline ucp_ep_h connect_to(struct side* side, const ucp_address_t* address) {
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                  .address = address};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(side->worker, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

// One endpoint more.
static inline ucp_ep_h connect_to_other(struct side* side) {
  return connect_to(side, side->other);
}

// Makes an endpoint to a worker.
typedef ucp_ep_h (*connect_function)(struct side*, const ucp_address_t*);

static inline void open_side_as(struct side* side, const ucp_params_t* params,
                                connect_function connect) {
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  check_ucs(ucp_init(params, NULL, &side->context), "ucp_init");
  check_ucs(ucp_worker_create(side->context, &worker_params, &side->worker), "ucp_worker_create");

  ucp_address_t* own;
  size_t own_bytes, other_bytes;
  check_ucs(ucp_worker_get_address(side->worker, &own, &own_bytes), "ucp_worker_get_address");
  write_all(side->channel, &own_bytes, sizeof own_bytes);
  write_all(side->channel, own, own_bytes);
  read_all(side->channel, &other_bytes, sizeof other_bytes);
  side->other = (ucp_address_t*)make_buffer(other_bytes);
  read_all(side->channel, side->other, other_bytes);
  side->to_other = connect(side, side->other);
  side->to_self = connect(side, own);
  ucp_worker_release_address(side->worker, own);
}

static inline void open_side_with(struct side* side, uint64_t features, connect_function connect) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
  open_side_as(side, &params, connect);
}

static inline void open_side(struct side* side, uint64_t features) {
  open_side_with(side, features, connect_to);
}

static void finish(struct side* side, ucs_status_ptr_t request, const char* what) {
  if (request == NULL) return;
  check_ucs(UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK, what);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(side->worker);
  check_ucs(ucp_request_check_status(request), what);
  ucp_request_free(request);
}

// The other side may have closed its end first, which some transports report.
static inline void close_endpoint(struct side* side, ucp_ep_h endpoint) {
  const ucp_request_param_t defaults = {0};
  ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint, &defaults);
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(side->worker);
  ucp_request_free(request);
}

// Neither side continues before the other is done: until then both make progress.
static inline void meet(struct side* side) {
  const ucp_request_param_t defaults = {0};
  char done = 1;
  finish(side, ucp_worker_flush_nbx(side->worker, &defaults), "ucp_worker_flush_nbx");
  write_all(side->channel, &done, 1);
  ssize_t got;
  while ((got = recv(side->channel, &done, 1, MSG_DONTWAIT)) != 1) {
    check(got != 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR), "recv");
    ucp_worker_progress(side->worker);
  }
}

static inline void close_side(struct side* side) {
  close_endpoint(side, side->to_other);
  close_endpoint(side, side->to_self);
  ucp_worker_destroy(side->worker);
  ucp_cleanup(side->context);
  free(side->other);
}

// A side that waits for the other makes progress for ever, so neither may outlive a failure of the
// other: the kernel kills the child with its parent, and the parent ends when its child fails.
static void on_child(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  if (info->si_code == CLD_EXITED && info->si_status == 0) return;
  static const char kMessage[] = "the other process failed\n";
  const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  (void)written;
  _exit(1);
}

static inline pid_t fork_pair(void) {
  const struct sigaction action = {.sa_sigaction = on_child,
                                   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP};
  const pid_t parent = getpid();
  check(sigaction(SIGCHLD, &action, NULL) == 0, "sigaction");
  const pid_t child = fork();  // before any use of UCX
  check(child >= 0, "fork");
  if (child == 0) {
    check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "prctl");
    check(getppid() == parent, "finding the parent");  // it may have ended before
  }
  return child;
}

// Runs both sides, each in a process of its own. Returns in the one that started the program, once
// the other side ended well.
static inline void run_pair(const char* name, void (*run_side)(struct side*)) {
  program = name;
  int channel[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair");
  const pid_t child = fork_pair();
  struct side side = {.number = child == 0, .channel = channel[child == 0]};
  close(channel[child != 0]);
  run_side(&side);
  if (child == 0) exit(0);
  int status;
  check(waitpid(child, &status, 0) == child && status == 0, "the other process");
}
