// Every operation of UCT, driven without UCP over the scripted transport, with every outcome that
// the script supports: complete at once, refused and queued, late, late in another thread, in error
// at once and late. Contents are checked where an operation succeeded.
//
//     scripted_uct

#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <setjmp.h>

#include "scripted_operations.h"

enum { kAnswerId = 21, kRepeats = 3 };

static struct pair second;  // on the other device, for what happens meanwhile
static ucs_async_context_t* async;
static unsigned arrived, asked, answered;

// --- one operation to its end --------------------------------------------------------------------

static unsigned ended;
static void on_end(uct_completion_t* completion) {
  (void)completion;
  __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

// A request that posts its operation when the endpoint has resources again.
struct queued {
  uct_pending_req_t request;
  operation post;
  uct_completion_t* completion;
  ucs_status_t status;
};

static ucs_status_t dispatch(uct_pending_req_t* request) {
  struct queued* queued = (struct queued*)request;
  queued->status = queued->post(queued->completion);
  return queued->status == UCS_ERR_NO_RESOURCE ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

// Posts, queues what is refused, waits for what is late. An interface has no queue; there the call
// is made again.
static ucs_status_t drive(operation post) {
  uct_completion_t completion = {.func = on_end, .count = 1, .status = UCS_OK};
  struct queued queued = {.request.func = dispatch, .post = post, .completion = &completion};
  const unsigned before = ended;
  while ((queued.status = post(&completion)) == UCS_ERR_NO_RESOURCE) {
    if (post != iface_flush &&
        uct_ep_pending_add(pair.near.endpoint, &queued.request, 0) == UCS_OK) {
      while (queued.status == UCS_ERR_NO_RESOURCE) progress_pair(&pair);
      break;
    }
    progress_pair(&pair);
  }
  if (queued.status != UCS_INPROGRESS) return queued.status;
  while (ended == before) progress_pair(&pair);
  return completion.status;
}

static void check_content(const char* name) {
  if (strncmp(name, "put", 3) == 0 || strncmp(name, "get", 3) == 0) {
    const size_t bytes = strstr(name, "short") != NULL ? kBytes : kLong;
    check(memcmp(memory.near, memory.far, bytes) == 0, name);
  }
}

static void run_all(const char* outcome, const char* rules, ucs_status_t expected) {
  for (int i = 0; i < kOperationCount; ++i) {
    char script[200], mark[100];
    snprintf(script, sizeof script, "%s:%s", kOperations[i].name, rules);
    snprintf(mark, sizeof mark, "%s %s", kOperations[i].name, outcome);
    scripted_transport_script(script);
    scripted_transport_mark(mark);
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      memset(memory.near, repeat + i, sizeof memory.near);
      memset(memory.far, repeat + i + 100, sizeof memory.far);
      const ucs_status_t status = drive(kOperations[i].post);
      check(status == UCS_OK || status == expected, mark);
      if (status == UCS_OK) check_content(kOperations[i].name);
    }
    scripted_transport_script("");
    for (int empty = 0; empty < 3; ++empty) progress_pair(&pair);
  }
}

// --- what happens inside and between operations --------------------------------------------------

// Fetches over the other device what it packs, as UCX does with memory of a GPU.
static size_t pack_from_elsewhere(void* to, void* argument) {
  (void)argument;
  check_ucs(uct_ep_get_short(second.near.endpoint, to, kBytes, far_memory(), key.rkey),
            "get_short in a pack callback");
  return kBytes;
}

static void stage_in_pack(void) {
  scripted_transport_mark("staging");
  const unsigned before = arrived;
  for (int i = 0; i < kRepeats; ++i) {
    check(uct_ep_am_bcopy(pair.near.endpoint, kAmId, pack_from_elsewhere, NULL, 0) == kBytes,
          "am_bcopy with a nested operation");
  }
  while (arrived != before + kRepeats) progress_pair(&pair);
}

static jmp_buf out_of_call;
static size_t pack_nothing(void* to, void* argument) {
  (void)to, (void)argument;
  longjmp(out_of_call, 1);
}

// Leaves operations by longjmp, as some programs handle errors. Later operations are recorded
// completely, on the same endpoint or inside another operation.
static void jump_out(void) {
  scripted_transport_mark("after a jump");
  const unsigned before = arrived;
  for (volatile int i = 0; i < kRepeats; ++i) {
    if (setjmp(out_of_call) == 0) {
      uct_ep_am_bcopy(pair.near.endpoint, kAmId, pack_nothing, NULL, 0);
      check(0, "leaving am_bcopy by a long jump");
    }
    check(uct_ep_am_bcopy(pair.near.endpoint, kAmId, pack_from_elsewhere, NULL, 0) == kBytes,
          "am_bcopy with a nested operation after a long jump");
    check_ucs(am_short(NULL), "am_short after a long jump");
  }
  while (arrived != before + 2 * kRepeats) progress_pair(&pair);
}

static ucs_status_t on_message(void* argument, void* data, size_t bytes, unsigned flags) {
  (void)argument, (void)data, (void)bytes, (void)flags;
  ++arrived;
  // A request that the script refuses here gets no answer.
  asked += uct_ep_am_short(pair.far.endpoint, kAnswerId, 1, NULL, 0) == UCS_OK;
  return UCS_OK;
}

static ucs_status_t on_answer(void* argument, void* data, size_t bytes, unsigned flags) {
  (void)argument, (void)data, (void)bytes, (void)flags;
  ++answered;
  return UCS_OK;
}

// One completion for several operations, and none at all.
static void share_completion(void) {
  scripted_transport_mark("shared completion");
  scripted_transport_script("*:late=2");
  uct_completion_t completion = {.func = on_end, .count = 3, .status = UCS_OK};
  const unsigned before = ended;
  for (int i = 0; i < 3; ++i) check(put_zcopy(&completion) == UCS_INPROGRESS, "a late put");
  check(put_zcopy(NULL) == UCS_INPROGRESS, "a late put that nobody waits for");
  while (ended == before) progress_pair(&pair);
  check(completion.count == 0 && ended == before + 1, "sharing a completion");
  for (int i = 0; i < 3; ++i) progress_pair(&pair);
}

static uct_completion_t left_behind[kRepeats];

static void* post_and_leave(void* argument) {
  (void)argument;
  for (int i = 0; i < kRepeats; ++i) {
    left_behind[i] = (uct_completion_t){.func = on_end, .count = 1, .status = UCS_OK};
    check(get_zcopy(&left_behind[i]) == UCS_INPROGRESS, "a late get");
  }
  return NULL;
}

// Operations whose posting thread has ended when they complete, in a thread that never posted.
static void leave_behind(void) {
  pthread_t thread;
  const unsigned before = ended;
  scripted_transport_mark("left behind");
  scripted_transport_script("get_zcopy:thread=3");
  check(pthread_create(&thread, NULL, post_and_leave, NULL) == 0, "pthread_create");
  check(pthread_join(thread, NULL) == 0, "pthread_join");
  while (ended != before + kRepeats) progress_pair(&pair);
}

static unsigned purged;
static void on_purge(uct_pending_req_t* request, void* argument) {
  (void)argument;
  ++purged;
  ((struct queued*)request)->status = UCS_ERR_CANCELED;
}

// Pending requests are removed from the queue and never posted; without a callback there is no
// notification.
static void purge(uct_pending_purge_callback_t callback, unsigned told) {
  scripted_transport_mark("purged");
  scripted_transport_script("*:no_resource=100");
  struct queued queued[kRepeats];
  purged = 0;
  for (int i = 0; i < kRepeats; ++i) {
    queued[i] = (struct queued){.request.func = dispatch, .post = put_short};
    check(put_short(NULL) == UCS_ERR_NO_RESOURCE, "a refused put");
    check_ucs(uct_ep_pending_add(pair.near.endpoint, &queued[i].request, 0), "pending_add");
  }
  uct_ep_pending_purge(pair.near.endpoint, callback, NULL);
  check(purged == told, "purging");
  // Not where a test leaves out the hook for it.
  const char* left_out = getenv("UCTRACE_LEAVE_OUT");
  if (left_out == NULL || strcmp(left_out, "ep_pending_purge") != 0) {
    for (int i = 0; i < kRepeats; ++i) {
      check(queued[i].request.func == dispatch, "a purged request, which is as its owner made it");
    }
  }
  scripted_transport_script("");
  for (int i = 0; i < 100; ++i) progress_pair(&pair);
}

// A flush that cancels ends what is outstanding.
static void cancel_by_flush(void) {
  uct_completion_t put = {.func = on_end, .count = 1, .status = UCS_OK}, flush = put;
  const unsigned before = ended;
  scripted_transport_mark("cancelled");
  scripted_transport_script("put_zcopy:late=1000");
  check(put_zcopy(&put) == UCS_INPROGRESS, "a late put");
  check(uct_ep_flush(pair.near.endpoint, UCT_FLUSH_FLAG_CANCEL, &flush) == UCS_INPROGRESS,
        "a flush that cancels");
  while (ended != before + 2) progress_pair(&pair);
  check(put.status == UCS_ERR_CANCELED && flush.status == UCS_OK, "cancelling");
}

static ucs_status_t failed_with = UCS_OK;
static ucs_status_t on_failure(void* argument, uct_ep_h endpoint, ucs_status_t status) {
  (void)argument, (void)endpoint;
  failed_with = status;
  return UCS_OK;
}

// The endpoint fails under one operation and takes the others along.
static void fail(void) {
  uct_completion_t others = {.func = on_end, .count = 2, .status = UCS_OK};
  uct_completion_t fatal = {.func = on_end, .count = 1, .status = UCS_OK};
  const unsigned before = ended;
  scripted_transport_mark("failure");
  scripted_transport_script("get_zcopy:fail put_zcopy:late=1000");
  for (int i = 0; i < 2; ++i) check(put_zcopy(&others) == UCS_INPROGRESS, "a late put");
  check(get_zcopy(&fatal) == UCS_INPROGRESS, "a get that fails late");
  while (ended != before + 2) progress_pair(&pair);
  check(failed_with == UCS_ERR_CONNECTION_RESET && fatal.status == failed_with &&
            others.status == failed_with,
        "failing");
  check(put_short(NULL) == UCS_ERR_CONNECTION_RESET, "a put after the failure");
}

// --- the run -------------------------------------------------------------------------------------

static void register_memory(void) {
  check_ucs(uct_md_mem_reg(pair.domain, &memory, sizeof memory, UCT_MD_MEM_ACCESS_ALL, &registered),
            "uct_md_mem_reg");
  unsigned char packed[256];
  check(pair.domain_attributes.rkey_packed_size <= sizeof packed, "the key's length");
  check_ucs(uct_md_mkey_pack(pair.domain, registered, packed), "uct_md_mkey_pack");
  check_ucs(uct_rkey_unpack(find_component("scripted"), packed, &key), "uct_rkey_unpack");
}

int main(void) {
  program = "scripted_uct";
  const uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_ERR_HANDLER,
                                     .err_handler = on_failure};
  check_ucs(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async), "async");
  open_pair(&pair, async, "scripted", "mlx5_0:1", params);
  open_pair(&second, async, "scripted", "mlx5_1:1", params);
  register_memory();
  check_ucs(uct_iface_set_am_handler(pair.far.iface, kAmId, on_message, NULL, 0), "am handler");
  check_ucs(uct_iface_set_am_handler(pair.near.iface, kAnswerId, on_answer, NULL, 0), "am handler");
  check(uct_iface_set_am_handler(pair.far.iface, kAmId, on_answer, NULL, UCT_CB_FLAG_RESERVED) !=
            UCS_OK,
        "refusing a handler, which leaves the one before it");

  run_all("at once", "ok", UCS_OK);
  run_all("refused", "no_resource=3/2", UCS_OK);
  run_all("late", "late=4", UCS_OK);
  run_all("on a thread", "thread=2", UCS_OK);
  run_all("in error", "error/2", UCS_ERR_IO_ERROR);
  run_all("late in error", "error=3/2", UCS_ERR_IO_ERROR);
  check(answered == asked && asked > 0, "answers");
  stage_in_pack();
  jump_out();
  share_completion();
  leave_behind();
  purge(on_purge, kRepeats);
  purge(NULL, 0);
  cancel_by_flush();
  fail();

  scripted_transport_script("");
  check_ucs(uct_rkey_release(find_component("scripted"), &key), "uct_rkey_release");
  check_ucs(uct_md_mem_dereg(pair.domain, registered), "uct_md_mem_dereg");
  close_pair(&pair);
  close_pair(&second);
  ucs_async_context_destroy(async);
  printf("scripted_uct: %u messages, %u ends\n", arrived, ended);
  return 0;
}
