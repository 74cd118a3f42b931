// Two processes that exchange tag messages through UCP, without any MPI: 0 B to 1 MiB, every
// content checked, to the other process and to themselves.
//
//     plain_ucp

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { kRounds = 3 };
static const size_t kSizes[] = {0, 1, 8, 100, 4000, 8192, 20000, 100000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

// `channel` connects the processes for what UCP leaves to its users: addresses and the farewell.
struct side {
  int number, channel;
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h to_other, to_self;
};

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "plain_ucp: %s failed\n", what);
  _exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  fprintf(stderr, "plain_ucp: %s: %s\n", what, ucs_status_string(status));
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

static unsigned char content(ucp_tag_t tag, size_t i) { return (unsigned char)(tag * 31 + i * 7); }

static ucp_ep_h connect_to(struct side* side, const ucp_address_t* address) {
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                  .address = address};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(side->worker, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

static void open_side(struct side* side) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  check_ucs(ucp_init(&params, NULL, &side->context), "ucp_init");
  check_ucs(ucp_worker_create(side->context, &worker_params, &side->worker), "ucp_worker_create");

  ucp_address_t* own;
  size_t own_bytes, other_bytes;
  check_ucs(ucp_worker_get_address(side->worker, &own, &own_bytes), "ucp_worker_get_address");
  write_all(side->channel, &own_bytes, sizeof own_bytes);
  write_all(side->channel, own, own_bytes);
  read_all(side->channel, &other_bytes, sizeof other_bytes);
  ucp_address_t* other = (ucp_address_t*)make_buffer(other_bytes);
  read_all(side->channel, other, other_bytes);
  side->to_other = connect_to(side, other);
  side->to_self = connect_to(side, own);
  ucp_worker_release_address(side->worker, own);
  free(other);
}

static void finish(struct side* side, ucs_status_ptr_t request, const char* what) {
  if (request == NULL) return;
  check_ucs(UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK, what);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(side->worker);
  check_ucs(ucp_request_check_status(request), what);
  ucp_request_free(request);
}

// One message each way, or to itself: receive posted first, both in flight together.
static void exchange(struct side* side, ucp_ep_h endpoint, ucp_tag_t sent_tag, ucp_tag_t got_tag,
                     size_t bytes) {
  const ucp_request_param_t defaults = {0};
  unsigned char *sent = make_buffer(bytes), *got = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) sent[i] = content(sent_tag, i);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, got, bytes, got_tag, UINT64_MAX, &defaults);
  ucs_status_ptr_t send = ucp_tag_send_nbx(endpoint, sent, bytes, sent_tag, &defaults);
  finish(side, send, "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  for (size_t i = 0; i < bytes; ++i) check(got[i] == content(got_tag, i), "comparing contents");
  free(sent);
  free(got);
}

static void close_endpoint(struct side* side, ucp_ep_h endpoint) {
  const ucp_request_param_t defaults = {0};
  finish(side, ucp_ep_close_nbx(endpoint, &defaults), "ucp_ep_close_nbx");
}

// Nobody leaves before the other has all it wants: until then both make progress.
static void close_side(struct side* side) {
  const ucp_request_param_t defaults = {0};
  char done = 1;
  finish(side, ucp_worker_flush_nbx(side->worker, &defaults), "ucp_worker_flush_nbx");
  write_all(side->channel, &done, 1);
  while (recv(side->channel, &done, 1, MSG_DONTWAIT) != 1) {
    check(errno == EAGAIN || errno == EWOULDBLOCK, "recv");
    ucp_worker_progress(side->worker);
  }
  close_endpoint(side, side->to_other);
  close_endpoint(side, side->to_self);
  ucp_worker_destroy(side->worker);
  ucp_cleanup(side->context);
}

static void run_side(struct side* side) {
  open_side(side);
  const ucp_tag_t mine = (ucp_tag_t)(side->number + 1) << 32;
  const ucp_tag_t theirs = (ucp_tag_t)(2 - side->number) << 32, own = 3ull << 32;
  for (ucp_tag_t i = 0; i < (ucp_tag_t)kRounds * kSizeCount; ++i) {
    exchange(side, side->to_other, mine | i, theirs | i, kSizes[i % kSizeCount]);
    exchange(side, side->to_self, own | i, own | i, kSizes[i % kSizeCount]);
  }
  close_side(side);
}

int main(void) {
  int channel[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0, "socketpair");
  const pid_t child = fork();  // before any use of UCX
  check(child >= 0, "fork");
  struct side side = {.number = child == 0, .channel = channel[child == 0]};
  close(channel[child != 0]);
  run_side(&side);
  if (child == 0) return 0;
  int status;
  check(waitpid(child, &status, 0) == child && status == 0, "the other process");
  printf("plain_ucp: %d messages per process are right\n", 2 * kRounds * kSizeCount);
  return 0;
}
