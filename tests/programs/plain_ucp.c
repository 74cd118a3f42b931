// Two processes that exchange tag messages through UCP, without any MPI: 0 B to 1 MiB, every
// content checked, to the other process and to themselves.
//
//     plain_ucp [GO]    before it ends it makes GO.ready, and waits for the file GO

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "ucp_pair.h"

enum { kRounds = 3 };
static const size_t kSizes[] = {0, 1, 8, 100, 4000, 8192, 20000, 100000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

static unsigned char content(ucp_tag_t tag, size_t i) { return (unsigned char)(tag * 31 + i * 7); }

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

static const char* go = NULL;

static void wait_for_go(const struct side* side) {
  if (go == NULL) return;
  if (side->number == 0) {
    char ready[4096];
    snprintf(ready, sizeof ready, "%s.ready", go);
    const int made = open(ready, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    check(made >= 0, "making GO.ready");
    close(made);
  }
  const struct timespec moment = {.tv_nsec = 20000000};
  while (access(go, F_OK) != 0) nanosleep(&moment, NULL);
}

static void run_side(struct side* side) {
  open_side(side, UCP_FEATURE_TAG);
  const ucp_tag_t mine = (ucp_tag_t)(side->number + 1) << 32;
  const ucp_tag_t theirs = (ucp_tag_t)(2 - side->number) << 32, own = 3ull << 32;
  for (ucp_tag_t i = 0; i < (ucp_tag_t)kRounds * kSizeCount; ++i) {
    exchange(side, side->to_other, mine | i, theirs | i, kSizes[i % kSizeCount]);
    exchange(side, side->to_self, own | i, own | i, kSizes[i % kSizeCount]);
  }
  meet(side);
  wait_for_go(side);
  close_side(side);
}

int main(int count, char** arguments) {
  if (count > 1) go = arguments[1];
  run_pair("plain_ucp", run_side);
  printf("plain_ucp: %d messages per process are right\n", 2 * kRounds * kSizeCount);
  return 0;
}
