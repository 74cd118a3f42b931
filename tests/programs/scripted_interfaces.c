// More interfaces than the log has ids for, as in a long-running service that opens and closes
// workers: messages on the first device, then interfaces without end on the second one, then
// messages on the first again. More than the shim has entries for, too.
//
//     scripted_interfaces

#include "uct_sides.h"

enum { kAmId = 5, kAtOnce = 50, kRounds = 1400, kMessages = 3 };

static unsigned arrived;

static ucs_status_t on_message(void* argument, void* data, size_t length, unsigned flags) {
  (void)argument, (void)data, (void)length, (void)flags;
  ++arrived;
  return UCS_OK;
}

static void exchange(ucs_async_context_t* async, const char* device) {
  struct pair pair;
  open_pair(&pair, async, "scripted", device, (uct_iface_params_t){.field_mask = 0});
  check_ucs(uct_iface_set_am_handler(pair.far.iface, kAmId, on_message, NULL, 0), "am handler");
  const unsigned before = arrived;
  for (unsigned i = 0; i < kMessages; ++i) {
    const uint64_t word = i;
    check_ucs(uct_ep_am_short(pair.near.endpoint, kAmId, i, &word, sizeof word), "am_short");
  }
  while (arrived < before + kMessages) progress_pair(&pair);
  close_pair(&pair);
}

static void open_many(ucs_async_context_t* async, uct_md_h domain) {
  static struct side sides[kAtOnce];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kAtOnce; ++i) {
      open_interface(domain, async, "scripted", "mlx5_1:1", (uct_iface_params_t){.field_mask = 0},
                     &sides[i]);
    }
    // In another order from round to round: memory is used again in another one, too.
    for (int i = 0; i < kAtOnce; ++i) {
      struct side* side = &sides[(i * 7 + round) % kAtOnce];
      uct_iface_close(side->iface);
      uct_worker_destroy(side->worker);
    }
  }
}

int main(void) {
  program = "scripted_interfaces";
  ucs_async_context_t* async;
  check_ucs(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async), "async");
  scripted_transport_mark("first");
  exchange(async, "mlx5_0:1");
  uct_md_h domain = open_domain("scripted");
  open_many(async, domain);
  uct_md_close(domain);
  exchange(async, "mlx5_0:1");
  ucs_async_context_destroy(async);
  printf("scripted_interfaces: %u messages\n", arrived);
  return 0;
}
