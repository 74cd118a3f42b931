// Tag matching by the interface, driven without UCP over the scripted transport: messages that meet
// a posted receive and messages that do not, receives that are cancelled, and rendezvous in every
// form.
//
//     scripted_tags

#include "uct_sides.h"

enum { kShort = 24, kMiddle = 3000, kLarge = 100000, kRounds = 3, kImmediate = 77 };

static struct pair pair;
static unsigned char sent[kLarge], got[kLarge];
static uct_mem_h registered;

// --- what the interface tells --------------------------------------------------------------------

static struct {
  unsigned consumed, completed, cancelled, truncated, requests;  // of posted receives
  unsigned eager, rendezvous;                                    // unexpected
  size_t bytes;                                                  // of the last of them
} seen;

static void on_consumed(uct_tag_context_t* context) {
  (void)context;
  ++seen.consumed;
}

static void on_completed(uct_tag_context_t* context, uct_tag_t tag, uint64_t immediate,
                         size_t bytes, void* inline_data, ucs_status_t status) {
  (void)context, (void)tag;
  if (status == UCS_ERR_CANCELED) {
    ++seen.cancelled;
    return;
  }
  if (status == UCS_ERR_MESSAGE_TRUNCATED) {
    ++seen.truncated;
    return;
  }
  check_ucs(status, "receiving");
  if (inline_data != NULL) memcpy(got, inline_data, bytes);
  check(memcmp(got, sent, bytes) == 0, "comparing what was received");
  check(immediate == 0 || immediate == kImmediate, "the immediate value");
  seen.bytes = bytes;
  ++seen.completed;
}

static void on_request(uct_tag_context_t* context, uct_tag_t tag, const void* header,
                       unsigned bytes, ucs_status_t status, unsigned flags) {
  (void)context, (void)tag, (void)flags;
  check_ucs(status, "a rendezvous request");
  check(memcmp(header, sent, bytes) == 0, "the header of a request");
  ++seen.requests;
}

static ucs_status_t on_eager(void* argument, void* data, size_t bytes, unsigned flags,
                             uct_tag_t tag, uint64_t immediate, void** context) {
  (void)argument, (void)flags, (void)tag, (void)immediate, (void)context;
  check(memcmp(data, sent, bytes) == 0, "an unexpected message");
  seen.bytes = bytes;
  ++seen.eager;
  return UCS_OK;
}

static ucs_status_t on_rendezvous(void* argument, unsigned flags, uint64_t tag, const void* header,
                                  unsigned header_bytes, uint64_t remote, size_t bytes,
                                  const void* key) {
  (void)argument, (void)flags, (void)tag;
  check(memcmp(header, sent, header_bytes) == 0, "the header of an unexpected rendezvous");
  check((remote != 0) == (key != NULL), "an address with its key");
  seen.bytes = bytes;
  ++seen.rendezvous;
  return UCS_OK;
}

// --- receiving -----------------------------------------------------------------------------------

static uct_tag_context_t receives[kRounds];

static void post_receive(uct_tag_context_t* context, uct_tag_t tag, size_t bytes) {
  const uct_iov_t part = {.buffer = got, .length = bytes, .memh = registered, .count = 1};
  context->tag_consumed_cb = on_consumed;
  context->completed_cb = on_completed;
  context->rndv_cb = on_request;
  ucs_status_t status;
  while ((status = uct_iface_tag_recv_zcopy(pair.far.iface, tag, UINT64_MAX, &part, 1, context)) ==
         UCS_ERR_NO_RESOURCE) {
    progress_pair(&pair);
  }
  check_ucs(status, "posting a receive");
}

// --- sending -------------------------------------------------------------------------------------

static unsigned ended;
static void on_end(uct_completion_t* completion) {
  check_ucs(completion->status, "sending");
  ++ended;
}

static size_t pack(void* to, void* bytes) {
  memcpy(to, sent, *(size_t*)bytes);
  return *(size_t*)bytes;
}

typedef ucs_status_t (*sender)(uct_tag_t tag, uct_completion_t* completion);

static ucs_status_t eager_short(uct_tag_t tag, uct_completion_t* completion) {
  (void)completion;
  return uct_ep_tag_eager_short(pair.near.endpoint, tag, sent, kShort);
}
static ucs_status_t eager_bcopy(uct_tag_t tag, uct_completion_t* completion) {
  size_t bytes = kMiddle;
  (void)completion;
  const ssize_t length =
      uct_ep_tag_eager_bcopy(pair.near.endpoint, tag, kImmediate, pack, &bytes, 0);
  return length < 0 ? (ucs_status_t)length : UCS_OK;
}
static ucs_status_t eager_zcopy(uct_tag_t tag, uct_completion_t* completion) {
  const uct_iov_t part = {.buffer = sent, .length = kMiddle, .memh = registered, .count = 1};
  return uct_ep_tag_eager_zcopy(pair.near.endpoint, tag, kImmediate, &part, 1, 0, completion);
}
static void* last_rendezvous;
static ucs_status_t rendezvous(uct_tag_t tag, uct_completion_t* completion) {
  const uct_iov_t part = {.buffer = sent, .length = kLarge, .memh = registered, .count = 1};
  const ucs_status_ptr_t operation =
      uct_ep_tag_rndv_zcopy(pair.near.endpoint, tag, sent, 16, &part, 1, 0, completion);
  if (UCS_PTR_IS_ERR(operation)) return UCS_PTR_STATUS(operation);
  last_rendezvous = operation;
  return UCS_INPROGRESS;
}
static ucs_status_t request(uct_tag_t tag, uct_completion_t* completion) {
  (void)completion;
  return uct_ep_tag_rndv_request(pair.near.endpoint, tag, sent, 40, 0);
}

static const struct {
  const char* name;
  sender send;
} kSenders[] = {{"tag_eager_short", eager_short},
                {"tag_eager_bcopy", eager_bcopy},
                {"tag_eager_zcopy", eager_zcopy},
                {"tag_rndv_zcopy", rendezvous},
                {"tag_rndv_request", request}};
enum { kSenderCount = sizeof kSenders / sizeof *kSenders };

// Returns whether the operation ended; a rendezvous that nobody receives does not.
static int drive(sender send, uct_tag_t tag, int wait) {
  static uct_completion_t completion;  // outlives a rendezvous that is cancelled
  completion = (uct_completion_t){.func = on_end, .count = 1, .status = UCS_OK};
  const unsigned before = ended;
  ucs_status_t status;
  while ((status = send(tag, &completion)) == UCS_ERR_NO_RESOURCE) progress_pair(&pair);
  if (status != UCS_INPROGRESS) {
    check_ucs(status, "sending");
    return 1;
  }
  while (wait && ended == before) progress_pair(&pair);
  return wait;
}

static unsigned told(void) {
  return seen.completed + seen.truncated + seen.requests + seen.eager + seen.rendezvous;
}

static void send_all(const char* how, int expected) {
  for (int i = 0; i < kSenderCount; ++i) {
    char mark[64];
    snprintf(mark, sizeof mark, "%s %s", kSenders[i].name, how);
    scripted_transport_mark(mark);
    for (int round = 0; round < kRounds; ++round) {
      const uct_tag_t tag = (uct_tag_t)(i * kRounds + round);
      const unsigned before = told();
      memset(sent, round + i + expected, sizeof sent);
      memset(got, 0, sizeof got);
      if (expected) post_receive(&receives[round], tag, kLarge);
      if (!drive(kSenders[i].send, tag, expected || kSenders[i].send != rendezvous)) {
        while (told() == before) progress_pair(&pair);
        check_ucs(uct_ep_tag_rndv_cancel(pair.near.endpoint, last_rendezvous), "cancelling");
      }
      while (told() == before) progress_pair(&pair);
    }
  }
}

// --- the run -------------------------------------------------------------------------------------

static void cancel_receives(void) {
  scripted_transport_mark("cancelled receives");
  post_receive(&receives[0], 1000, kLarge);
  post_receive(&receives[1], 1001, kLarge);
  check_ucs(uct_iface_tag_recv_cancel(pair.far.iface, &receives[0], 0), "cancelling a receive");
  check_ucs(uct_iface_tag_recv_cancel(pair.far.iface, &receives[1], 1), "forcing it");
  for (int i = 0; i < 3; ++i) progress_pair(&pair);
  check(seen.cancelled == 1, "hearing of one of the two");
}

static void truncate_messages(void) {
  scripted_transport_mark("truncated");
  post_receive(&receives[0], 2000, kShort);
  drive(eager_zcopy, 2000, 1);
  while (seen.truncated < 1) progress_pair(&pair);
  post_receive(&receives[1], 2001, kShort);
  drive(rendezvous, 2001, 1);
  while (seen.truncated < 2) progress_pair(&pair);
}

int main(void) {
  program = "scripted_tags";
  ucs_async_context_t* async;
  const uct_iface_params_t params = {
      .field_mask = UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB | UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB,
      .eager_cb = on_eager,
      .rndv_cb = on_rendezvous};
  check_ucs(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async), "async");
  open_pair(&pair, async, "script_tm", "mlx5_0:1", params);
  check_ucs(uct_md_mem_reg(pair.domain, sent, sizeof sent, UCT_MD_MEM_ACCESS_ALL, &registered),
            "uct_md_mem_reg");

  send_all("at once", 1);
  send_all("unexpected", 0);
  scripted_transport_script("*:no_resource/3 *:late=3/2 *:thread=2");
  send_all("stubborn", 1);
  scripted_transport_script("");
  for (int i = 0; i < 3; ++i) progress_pair(&pair);
  cancel_receives();
  truncate_messages();

  check_ucs(uct_md_mem_dereg(pair.domain, registered), "uct_md_mem_dereg");
  close_pair(&pair);
  ucs_async_context_destroy(async);
  printf(
      "scripted_tags: %u consumed, %u completed, %u requests, %u eager and %u rendezvous"
      " unexpected\n",
      seen.consumed, seen.completed, seen.requests, seen.eager, seen.rendezvous);
  return 0;
}
