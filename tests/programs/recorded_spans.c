// Operations of UCP that are under way while SIGUSR1 switches recording, by a worker that talks to
// itself. All contents are checked.
//
//     recorded_spans spans              of each kind one that begins before a switch and ends after
//                                       it, in either direction, with and without a callback
//     recorded_spans threads N SWITCHES threads with a worker each send to themselves, until
//                                       another one has switched so often
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "ucp_self.h"

enum { kShort = 8, kLong = 300000, kHandler = 1, kTag = 5, kMostThreads = 16 };

static unsigned char sent[kLong], got[kLong];
static size_t arrived;        // bytes of active messages
static unsigned called_back;  // callbacks of ours

static void switch_recording(void) { check(raise(SIGUSR1) == 0, "raise"); }

static void on_sent(void* request, ucs_status_t status, void* data) {
  (void)request, (void)data;
  check(status == UCS_OK, "a callback's status");
  ++called_back;
}
static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                        void* data) {
  (void)request, (void)data;
  check(status == UCS_OK && info->sender_tag == kTag, "a receive's callback");
  ++called_back;
}
static void on_stream(void* request, ucs_status_t status, size_t bytes, void* data) {
  (void)request, (void)bytes, (void)data;
  check(status == UCS_OK, "a stream's callback");
  ++called_back;
}

// --- active messages -----------------------------------------------------------------------------

static ucp_worker_h worker_of_handler;

static void on_data(void* request, ucs_status_t status, size_t bytes, void* data) {
  (void)data;
  check(status == UCS_OK, "ucp_am_recv_data_nbx");
  arrived += bytes;
  if (request != NULL) ucp_request_free(request);
}

static ucs_status_t on_message(void* argument, const void* header, size_t header_bytes, void* data,
                               size_t bytes, const ucp_am_recv_param_t* param) {
  (void)argument, (void)header, (void)header_bytes;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    memcpy(got, data, bytes);
    arrived += bytes;
    return UCS_OK;
  }
  const ucp_request_param_t told = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                    .cb.recv_am = on_data};
  ucs_status_ptr_t request = ucp_am_recv_data_nbx(worker_of_handler, data, got, bytes, &told);
  if (!UCS_PTR_IS_PTR(request)) on_data(NULL, UCS_PTR_STATUS(request), bytes, NULL);
  return UCS_INPROGRESS;
}

static void set_handler(struct node node) {
  const ucp_am_handler_param_t param = {
      .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
      .id = kHandler,
      .cb = on_message};
  worker_of_handler = node.worker;
  check(ucp_worker_set_am_recv_handler(node.worker, &param) == UCS_OK, "setting a handler");
}

// --- one operation of each kind that a switch falls into -----------------------------------------

enum kind { kTagged, kActive, kStream, kPut, kGet, kFlush, kFlushWorker, kKinds };

struct memory {
  ucp_mem_h handle;
  ucp_rkey_h key;
};

static struct memory map_memory(ucp_context_h context, struct node node, void* begin) {
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = begin,
      .length = kLong};
  struct memory memory;
  void* packed;
  size_t bytes;
  check(ucp_mem_map(context, &params, &memory.handle) == UCS_OK, "ucp_mem_map");
  check(ucp_rkey_pack(context, memory.handle, &packed, &bytes) == UCS_OK, "ucp_rkey_pack");
  check(ucp_ep_rkey_unpack(node.endpoint, packed, &memory.key) == UCS_OK, "ucp_ep_rkey_unpack");
  ucp_rkey_buffer_release(packed);
  return memory;
}

static ucs_status_ptr_t begin_sending(struct node node, enum kind kind, size_t bytes,
                                      const struct memory* memory,
                                      const ucp_request_param_t* param) {
  switch (kind) {
    case kTagged:
      return ucp_tag_send_nbx(node.endpoint, sent, bytes, kTag, param);
    case kActive:
      return ucp_am_send_nbx(node.endpoint, kHandler, NULL, 0, sent, bytes, param);
    case kStream:
      return ucp_stream_send_nbx(node.endpoint, sent, bytes, param);
    case kPut:
      return ucp_put_nbx(node.endpoint, sent, bytes, (uintptr_t)got, memory[1].key, param);
    case kGet:
      return ucp_get_nbx(node.endpoint, got, bytes, (uintptr_t)sent, memory[0].key, param);
    case kFlush:
      return ucp_ep_flush_nbx(node.endpoint, param);
    default:
      return ucp_worker_flush_nbx(node.worker, param);
  }
}

static ucs_status_ptr_t begin_receiving(struct node node, enum kind kind, size_t bytes,
                                        int with_callback) {
  static size_t at_return;
  ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                               .flags = kind == kStream ? UCP_STREAM_RECV_FLAG_WAITALL : 0};
  if (with_callback) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK;
    if (kind == kStream) param.cb.recv_stream = on_stream;
    if (kind == kTagged) param.cb.recv = on_received;
  }
  if (kind == kTagged) {
    return ucp_tag_recv_nbx(node.worker, got, bytes, kTag, UINT64_MAX, &param);
  }
  return kind == kStream ? ucp_stream_recv_nbx(node.endpoint, got, bytes, &at_return, &param)
                         : NULL;
}

static void span(struct node node, enum kind kind, size_t bytes, const struct memory* memory,
                 int with_callback) {
  ucp_request_param_t param = {0};
  if (with_callback) {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.send = on_sent;
  }
  memset(sent, (int)bytes + kind + with_callback, bytes);
  memset(got, 0, bytes);
  const size_t before = arrived;
  const unsigned calls = called_back;
  unsigned expected = 0;
  ucs_status_ptr_t receive = begin_receiving(node, kind, bytes, with_callback);
  expected += (unsigned)(with_callback && UCS_PTR_IS_PTR(receive));
  ucs_status_ptr_t send = begin_sending(node, kind, bytes, memory, &param);
  expected += (unsigned)(with_callback && UCS_PTR_IS_PTR(send));
  switch_recording();
  finish(node.worker, send, "sending");
  finish(node.worker, receive, "receiving");
  while (kind == kActive && arrived < before + bytes) ucp_worker_progress(node.worker);
  if (kind == kPut) {
    const ucp_request_param_t defaults = {0};
    finish(node.worker, ucp_ep_flush_nbx(node.endpoint, &defaults), "ucp_ep_flush_nbx");
  }
  check(kind >= kFlush || memcmp(sent, got, bytes) == 0, "comparing contents");
  check(called_back == calls + expected, "calling back");
}

// Each way round: it is off at first, and one switch is made in each operation.
static int spans(void) {
  const ucp_params_t params = {
      .field_mask = UCP_PARAM_FIELD_FEATURES,
      .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_STREAM};
  ucp_context_h context;
  check(ucp_init(&params, NULL, &context) == UCS_OK, "ucp_init");
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  set_handler(node);
  const struct memory memory[] = {map_memory(context, node, sent), map_memory(context, node, got)};
  int made = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int way = 0; way < 8; ++way, ++made) {
      span(node, (enum kind)kind, (way & 2) != 0 ? kLong : kShort, memory, (way & 4) != 0);
    }
  }
  for (int i = 0; i < 2; ++i) {
    ucp_rkey_destroy(memory[i].key);
    check(ucp_mem_unmap(context, memory[i].handle) == UCS_OK, "ucp_mem_unmap");
  }
  close_node(node);
  ucp_cleanup(context);
  return made;
}

// --- threads -------------------------------------------------------------------------------------

static ucp_context_h shared;
static int switches;
static _Atomic int over;
static _Atomic long messages;

static void* exchange(void* argument) {
  const struct node node = open_node(shared, UCS_THREAD_MODE_SINGLE);
  const ucp_tag_t tag = (ucp_tag_t)(uintptr_t)argument + 1;
  for (int i = 0; !over; ++i, ++messages) {
    send_to_self(node.worker, node.endpoint, tag, i % 16 == 0 ? kLong / 10 : kShort);
    if (i % 64 == 0) usleep(100);
  }
  close_node(node);
  return NULL;
}

static void* keep_switching(void* argument) {
  for (int i = 0; i < switches; ++i) {
    kill(getpid(), SIGUSR1);
    usleep(200 + (useconds_t)(i % 7) * 300);
  }
  over = 1;
  return argument;
}

static void threads(int count) {
  const ucp_params_t params = {
      .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
      .features = UCP_FEATURE_TAG,
      .mt_workers_shared = 1};
  pthread_t started[kMostThreads], switching;
  check(ucp_init(&params, NULL, &shared) == UCS_OK, "ucp_init");
  const struct node first =
      open_node(shared, UCS_THREAD_MODE_SINGLE);  // from here on it is watched
  check(pthread_create(&switching, NULL, keep_switching, NULL) == 0, "pthread_create");
  for (int i = 0; i < count; ++i) {
    check(pthread_create(&started[i], NULL, exchange, (void*)(uintptr_t)i) == 0, "pthread_create");
  }
  for (int i = 0; i < count; ++i) pthread_join(started[i], NULL);
  pthread_join(switching, NULL);
  close_node(first);
  ucp_cleanup(shared);
}

int main(int count, char** arguments) {
  if (count == 4 && strcmp(arguments[1], "threads") == 0) {
    const int wanted = atoi(arguments[2]);
    check(wanted > 0 && wanted <= kMostThreads, "reading the number of threads");
    switches = atoi(arguments[3]);
    threads(wanted);
    printf("recorded_spans: %ld messages are right\n", (long)messages);
  } else {
    check(count == 2 && strcmp(arguments[1], "spans") == 0, "usage: recorded_spans spans|threads");
    printf("recorded_spans: %d operations are right\n", spans());
  }
  return 0;
}
