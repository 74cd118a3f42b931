// Two processes that exchange tag messages between host memory and that of a GPU which does not exist
// (tests/scripted-transport), in all four combinations; every content is checked. UCX stages GPU
// memory through host memory, by operations inside those of the network's transport.
//
//     scripted_gpu

#include "../scripted-transport/scripted.h"
#include "ucp_pair.h"

static const size_t kSizes[] = {1, 100, 4000, 8000, 50000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kLargest = 300000, kWays = 4 };

static unsigned char content(ucp_tag_t tag, size_t i) { return (unsigned char)(tag * 31 + i * 7); }

static void exchange(struct side* side, unsigned char* sent, unsigned char* got, ucp_tag_t sent_tag,
                     ucp_tag_t got_tag, size_t bytes) {
  const ucp_request_param_t defaults = {0};
  for (size_t i = 0; i < bytes; ++i) sent[i] = content(sent_tag, i);
  memset(got, 0, bytes);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, got, bytes, got_tag, UINT64_MAX, &defaults);
  finish(side, ucp_tag_send_nbx(side->to_other, sent, bytes, sent_tag, &defaults),
         "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  for (size_t i = 0; i < bytes; ++i) check(got[i] == content(got_tag, i), "comparing contents");
}

static void run_side(struct side* side) {
  open_side(side, UCP_FEATURE_TAG);
  unsigned char* host[] = {make_buffer(kLargest), make_buffer(kLargest)};
  unsigned char* device[] = {scripted_transport_device_memory(kLargest),
                             scripted_transport_device_memory(kLargest)};
  check(device[0] != NULL && device[1] != NULL, "device memory");
  const ucp_tag_t mine = (ucp_tag_t)(side->number + 1) << 32;
  const ucp_tag_t theirs = (ucp_tag_t)(2 - side->number) << 32;
  // The way is from, to: host or device. Both sides send in the same way.
  for (ucp_tag_t i = 0; i < (ucp_tag_t)kWays * kSizeCount; ++i) {
    const unsigned way = (unsigned)i / kSizeCount;
    exchange(side, way & 1 ? device[0] : host[0], way & 2 ? device[1] : host[1], mine | i,
             theirs | i, kSizes[i % kSizeCount]);
  }
  meet(side);
  close_side(side);
  for (int i = 0; i < 2; ++i) free(host[i]);
}

int main(void) {
  run_pair("scripted_gpu", run_side);
  printf("scripted_gpu: %d messages per process are right\n", kWays * kSizeCount);
  return 0;
}
