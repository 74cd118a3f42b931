// Two processes without any MPI that send each other memory of GPUs in every form that UCP has, and
// receive into it: operations that complete at once or by a callback, data shorter than the buffer,
// cancelled receives, and requests that the program frees before they have ended. Each process
// writes how much data left or reached which memory, one JSON object an operation.
//
//     gpu_counted WHICH [TRUTH-PREFIX]
//
// WHICH: `all`, or `two-sided` only: protocols v1 of UCX 1.13 put what lies on GPUs by cuda_ipc
// alone.

#include "gpu_pair.h"

static const size_t kSizes[] = {100, 4000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kRoom = 400000, kMessageId = 7 };

static const char* which;
static int two_sided_only;
static struct side* this_side;
static CUdevice device;
static unsigned char *host, *other_host;
static uint64_t remote;  // other_host of the other side
static ucp_rkey_h key;
static ucp_mem_h region;
static ucp_tag_t next_tag;

// UCX is 1.`minor` or newer.
static int has_ucx(unsigned minor) {
  unsigned major, found, release;
  ucp_get_version(&major, &found, &release);
  return major > 1 || found >= minor;
}

static void tell(const char* data, const struct memory* memory, size_t bytes) {
  if (truth_file == NULL) return;
  fprintf(truth_file, "{\"data\":\"%s\",\"bytes\":%zu,", data, bytes);
  if (memory == NULL) {
    fprintf(truth_file, "\"memory\":\"unknown\",\"gpu\":null}\n");
    return;
  }
  write_place(memory->kind->memory, device);
  fprintf(truth_file, "}\n");
}

static void wait_for(const unsigned* count, unsigned wanted) {
  while (*count < wanted) ucp_worker_progress(this_side->worker);
}

// --- tags ----------------------------------------------------------------------------------------

static unsigned received;
static size_t received_bytes;

static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                        void* user_data) {
  (void)request;
  check_ucs(status, "receiving");
  check(user_data == &received, "the program's own data");
  received_bytes = info->length;
  ++received;
}

static ucs_status_ptr_t send_tag(const struct memory* memory, size_t bytes, ucp_tag_t tag) {
  const ucp_request_param_t defaults = {0};
  fill_memory(*memory, bytes, tag);
  if (memory->kind != find_kind("host")) tell("sent", memory, bytes);
  return ucp_tag_send_nbx(this_side->to_other, buffer_of(*memory), bytes, tag, &defaults);
}

// Into a buffer that is larger than the message; with a callback, or polled.
static void exchange_tags(const struct memory* from, const struct memory* to, size_t bytes,
                          int has_callback) {
  const ucp_tag_t tag = ++next_tag;
  const ucp_request_param_t defaults = {0};
  const ucp_request_param_t with_callback = {
      .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
      .cb.recv = on_received,
      .user_data = &received};
  const unsigned before = received;
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(this_side->worker, buffer_of(*to), kRoom, tag, UINT64_MAX,
                       has_callback ? &with_callback : &defaults);
  ucs_status_ptr_t send = send_tag(from, bytes, tag);
  const int is_pending = receive != NULL;
  finish(this_side, send, "ucp_tag_send_nbx");
  finish(this_side, receive, "ucp_tag_recv_nbx");
  check(received == before + (unsigned)(has_callback && is_pending), "one call of the callback");
  check(received == before || received_bytes == bytes, "the length");
  check(memory_holds(*to, bytes, tag), "comparing contents");
  tell("received", to, bytes);
}

static void wait_for_message(ucp_tag_t tag, ucp_tag_message_h* taken) {
  ucp_tag_recv_info_t info;
  ucp_tag_message_h message;
  while ((message = ucp_tag_probe_nb(this_side->worker, tag, UINT64_MAX, taken != NULL, &info)) ==
         NULL) {
    ucp_worker_progress(this_side->worker);
  }
  if (taken != NULL) *taken = message;
}

// The message has arrived before the receive: this ends inside its call, whatever `flags` say about
// that.
static void receive_what_is_there(const struct memory* from, const struct memory* to, size_t bytes,
                                  uint32_t flags) {
  const ucp_tag_t tag = ++next_tag;
  const ucp_request_param_t param = {.op_attr_mask = flags};
  finish(this_side, send_tag(from, bytes, tag), "ucp_tag_send_nbx");
  wait_for_message(tag, NULL);
  finish(this_side,
         ucp_tag_recv_nbx(this_side->worker, buffer_of(*to), kRoom, tag, UINT64_MAX, &param),
         "ucp_tag_recv_nbx");
  check(memory_holds(*to, bytes, tag), "comparing contents");
  tell("received", to, bytes);
}

static void receive_what_was_probed(const struct memory* from, const struct memory* to,
                                    size_t bytes) {
  const ucp_tag_t tag = ++next_tag;
  const ucp_request_param_t defaults = {0};
  ucp_tag_message_h message;
  fill_memory(*from, bytes, tag);
  ucs_status_ptr_t send =
      ucp_tag_send_sync_nbx(this_side->to_other, buffer_of(*from), bytes, tag, &defaults);
  tell("sent", from, bytes);
  wait_for_message(tag, &message);
  finish(this_side,
         ucp_tag_msg_recv_nbx(this_side->worker, buffer_of(*to), kRoom, message, &defaults),
         "ucp_tag_msg_recv_nbx");
  finish(this_side, send, "ucp_tag_send_sync_nbx");
  check(memory_holds(*to, bytes, tag), "comparing contents");
  tell("received", to, bytes);
}

// The request is in the program's own memory.
static void receive_in_own_request(const struct memory* from, const struct memory* to,
                                   size_t bytes) {
  const ucp_tag_t tag = ++next_tag;
  ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
  check_ucs(ucp_context_query(this_side->context, &attributes), "ucp_context_query");
  char* room = allocate(attributes.request_size);
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST,
                                     .request = room + attributes.request_size};
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(this_side->worker, buffer_of(*to), kRoom, tag, UINT64_MAX, &param);
  ucs_status_ptr_t send = send_tag(from, bytes, tag);
  if (UCS_PTR_IS_PTR(receive)) {
    while (ucp_request_check_status(receive) == UCS_INPROGRESS)
      ucp_worker_progress(this_side->worker);
  }
  finish(this_side, send, "ucp_tag_send_nbx");
  check(memory_holds(*to, bytes, tag), "comparing contents");
  tell("received", to, bytes);
  free(room);
}

// No message arrives for it, and nothing is counted.
static void cancel_receive(const struct memory* to) {
  const ucp_request_param_t defaults = {0};
  ucs_status_ptr_t request =
      ucp_tag_recv_nbx(this_side->worker, buffer_of(*to), kRoom, 1u << 30, UINT64_MAX, &defaults);
  check(UCS_PTR_IS_PTR(request), "a receive that waits");
  ucp_request_cancel(this_side->worker, request);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) {
    ucp_worker_progress(this_side->worker);
  }
  check(ucp_request_check_status(request) == UCS_ERR_CANCELED, "cancelling");
  ucp_request_free(request);
}

// The program frees the request at once; the data arrives nevertheless, before later messages.
static void let_receive_go(const struct memory* from, const struct memory* to, size_t bytes) {
  const ucp_tag_t tag = ++next_tag, behind = ++next_tag;
  const ucp_request_param_t defaults = {0};
  char other = 0;
  ucs_status_ptr_t request =
      ucp_tag_recv_nbx(this_side->worker, buffer_of(*to), kRoom, tag, UINT64_MAX, &defaults);
  check(UCS_PTR_IS_PTR(request), "a receive that waits");
  ucp_request_free(request);
  meet(this_side);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(this_side->worker, &other, 1, behind, UINT64_MAX, &defaults);
  finish(this_side, send_tag(from, bytes, tag), "ucp_tag_send_nbx");
  finish(this_side, ucp_tag_send_nbx(this_side->to_other, "x", 1, behind, &defaults),
         "ucp_tag_send_nbx");
  finish(this_side, receive, "ucp_tag_recv_nbx");
  check(memory_holds(*to, bytes, tag), "comparing contents");
  tell("received", to, bytes);
}

// Of how many parts a list is, all but the last one in `first`. Parts of one memory are in one
// place, a part of the host's beside them in none; nor is a list that is too long to ask for each
// part.
enum { kMostAsked = 64, kMostParts = kMostAsked + 1 };

static const struct memory* place_of_list(const struct memory* first, const struct memory* last,
                                          size_t parts) {
  return first->kind == last->kind && parts <= kMostAsked ? first : NULL;
}

static void send_list(const struct memory* first, const struct memory* last, size_t parts,
                      size_t bytes) {
  const ucp_tag_t tag = ++next_tag;
  const ucp_request_param_t defaults = {0};
  const ucp_request_param_t list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                    .datatype = ucp_dt_make_iov()};
  ucp_dt_iov_t iov[kMostParts];
  for (size_t i = 0; i < parts; ++i) {
    iov[i] = (ucp_dt_iov_t){buffer_of(i + 1 < parts ? *first : *last), bytes};
  }
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(this_side->worker, other_host, kRoom, tag, UINT64_MAX, &defaults);
  finish(this_side, ucp_tag_send_nbx(this_side->to_other, iov, parts, tag, &list), "a list");
  finish(this_side, receive, "ucp_tag_recv_nbx");
  tell("sent", place_of_list(first, last, parts), parts * bytes);
}

// --- active messages -----------------------------------------------------------------------------

// In the order in which they came: the other side may be one ahead.
enum { kMostArrived = 256 };
static struct arrival {
  void* data;
  size_t bytes;
  int is_kept;  // by UCX, until it is released
} arrivals[kMostArrived];
static unsigned arrived, taken;

static ucs_status_t on_message(void* argument, const void* header, size_t header_bytes, void* data,
                               size_t bytes, const ucp_am_recv_param_t* param) {
  (void)argument, (void)header, (void)header_bytes;
  const uint64_t kept = UCP_AM_RECV_ATTR_FLAG_DATA | UCP_AM_RECV_ATTR_FLAG_RNDV;
  check((param->recv_attr & kept) != 0, "data that may be kept");
  check(arrived < kMostArrived, "room for messages");
  arrivals[arrived++] =
      (struct arrival){.data = data,
                       .bytes = bytes,
                       .is_kept = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0};
  return UCS_INPROGRESS;
}

static void set_handler(void) {
  const ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                      UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                        .id = kMessageId,
                                        .flags = UCP_AM_FLAG_PERSISTENT_DATA,
                                        .cb = on_message};
  check_ucs(ucp_worker_set_am_recv_handler(this_side->worker, &param),
            "ucp_worker_set_am_recv_handler");
}

// Of a rendezvous UCX calls all of the buffer received, so that is no larger than the data.
static void exchange_messages(const struct memory* from, const struct memory* to, size_t bytes,
                              uint32_t how, int asks_length) {
  const ucp_request_param_t flags = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = how};
  size_t length = 0;
  const ucp_request_param_t defaults = {0};
  const ucp_request_param_t asking = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO,
                                      .recv_info.length = &length};
  fill_memory(*from, bytes, bytes);
  ucs_status_ptr_t send =
      ucp_am_send_nbx(this_side->to_other, kMessageId, "head", 4, buffer_of(*from), bytes, &flags);
  check(!UCS_PTR_IS_ERR(send), "ucp_am_send_nbx");
  tell("sent", from, bytes);
  wait_for(&arrived, taken + 1);
  const struct arrival* arrival = &arrivals[taken++];
  check(arrival->bytes == bytes, "the length");
  ucs_status_ptr_t receive =
      ucp_am_recv_data_nbx(this_side->worker, arrival->data, buffer_of(*to),
                           arrival->is_kept ? kRoom : bytes, asks_length ? &asking : &defaults);
  if (asks_length && receive == NULL) check(length == bytes, "the length that was asked for");
  finish(this_side, receive, "ucp_am_recv_data_nbx");
  // The receive owns the data, and UCX 1.13 forgets to release it.
  if (arrival->is_kept && !has_ucx(14)) ucp_am_data_release(this_side->worker, arrival->data);
  finish(this_side, send, "ucp_am_send_nbx");
  check(memory_holds(*to, bytes, bytes), "comparing contents");
  tell("received", to, bytes);
}

// --- streams and one-sided -----------------------------------------------------------------------

// A stream may come in pieces, each a receive of its own.
static void exchange_streams(const struct memory* from, const struct memory* to, size_t bytes) {
  const ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                   .flags = UCP_STREAM_RECV_FLAG_WAITALL};
  const ucp_request_param_t defaults = {0};
  size_t length = 0;
  fill_memory(*from, bytes, bytes);
  ucs_status_ptr_t receive =
      ucp_stream_recv_nbx(this_side->to_other, buffer_of(*to), bytes, &length, &all);
  ucs_status_ptr_t send =
      ucp_stream_send_nbx(this_side->to_other, buffer_of(*from), bytes, &defaults);
  tell("sent", from, bytes);
  finish(this_side, send, "ucp_stream_send_nbx");
  finish(this_side, receive, "ucp_stream_recv_nbx");
  check(memory_holds(*to, bytes, bytes), "comparing contents");
  tell("received", to, bytes);
}

static void open_region(void) {
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = other_host,
      .length = kRoom};
  void* packed;
  size_t bytes;
  const uint64_t mine = (uint64_t)(uintptr_t)other_host;
  check_ucs(ucp_mem_map(this_side->context, &params, &region), "ucp_mem_map");
  check_ucs(ucp_rkey_pack(this_side->context, region, &packed, &bytes), "ucp_rkey_pack");
  write_all(this_side->channel, &mine, sizeof mine);
  write_all(this_side->channel, &bytes, sizeof bytes);
  write_all(this_side->channel, packed, bytes);
  ucp_rkey_buffer_release(packed);
  read_all(this_side->channel, &remote, sizeof remote);
  read_all(this_side->channel, &bytes, sizeof bytes);
  void* theirs = allocate(bytes);
  read_all(this_side->channel, theirs, bytes);
  check_ucs(ucp_ep_rkey_unpack(this_side->to_other, theirs, &key), "ucp_ep_rkey_unpack");
  free(theirs);
}

static void put_and_get(const struct memory* from, const struct memory* to, size_t bytes) {
  const ucp_request_param_t defaults = {0};
  fill_memory(*from, bytes, bytes);
  finish(this_side,
         ucp_put_nbx(this_side->to_other, buffer_of(*from), bytes, remote, key, &defaults),
         "ucp_put_nbx");
  tell("sent", from, bytes);
  finish(this_side, ucp_ep_flush_nbx(this_side->to_other, &defaults), "ucp_ep_flush_nbx");
  finish(this_side, ucp_get_nbx(this_side->to_other, buffer_of(*to), bytes, remote, key, &defaults),
         "ucp_get_nbx");
  check(memory_holds(*to, bytes, bytes), "comparing contents");
  tell("received", to, bytes);
}

// --- both sides ----------------------------------------------------------------------------------

static void exchange_all(const struct memory* from, const struct memory* to) {
  const struct memory on_host = {
      .kind = find_kind("host"), .address = (CUdeviceptr)(uintptr_t)host, .bytes = kRoom};
  for (int i = 0; i < kSizeCount; ++i) {
    const size_t bytes = kSizes[i];
    for (int has_callback = 0; has_callback < 2; ++has_callback) {
      exchange_tags(from, to, bytes, has_callback);
      exchange_tags(&on_host, to, bytes, has_callback);
      exchange_messages(from, to, bytes, UCP_AM_SEND_FLAG_RNDV, has_callback);
      exchange_messages(from, to, 4000, UCP_AM_SEND_FLAG_EAGER, has_callback);
    }
    exchange_streams(from, to, bytes);
    if (!two_sided_only) {
      put_and_get(from, to, bytes);
      send_list(from, from, 2, bytes / 4);
      if (!has_ucx(16)) send_list(from, &on_host, 2, bytes / 4);  // later than that UCX refuses it
      send_list(&on_host, &on_host, kMostParts, 10);
    }
    meet(this_side);
  }
  receive_what_is_there(from, to, kSizes[1], 0);
  receive_what_is_there(from, to, kSizes[1], UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
  receive_what_was_probed(from, to, kSizes[1]);
  receive_in_own_request(from, to, kSizes[1]);
  cancel_receive(to);
  let_receive_go(from, to, kSizes[1]);
  meet(this_side);
}

static void run_side(struct side* side) {
  this_side = side;
  open_truth();
  device = use_device(side->number);
  open_side(side, UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA);
  host = make_buffer(kRoom);
  other_host = make_buffer(kRoom);
  set_handler();
  open_region();
  const struct memory of_device = allocate_memory("device", kRoom),
                      managed = allocate_memory("managed", kRoom);
  if (strcmp(which, "forced") == 0) {
    receive_what_is_there(&of_device, &managed, kSizes[1], UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    meet(this_side);
  } else {
    exchange_all(&of_device, &managed);
    exchange_all(&managed, &of_device);
  }
  ucp_rkey_destroy(key);
  check_ucs(ucp_mem_unmap(side->context, region), "ucp_mem_unmap");
  close_side(side);
  if (truth_file != NULL) fclose(truth_file);
}

// uctrace looks for drivers when a worker is created.
static void find_driver(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  ucp_context_h context;
  ucp_worker_h worker;
  use_device(0);
  check_ucs(ucp_init(&params, NULL, &context), "ucp_init");
  check_ucs(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
  ucp_worker_destroy(worker);
  ucp_cleanup(context);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: gpu_counted all|two-sided|forced|forked [TRUTH-PREFIX]\n");
    return 2;
  }
  which = argv[1];
  two_sided_only = strcmp(which, "all") != 0;
  truth_prefix = argc > 2 ? argv[2] : NULL;
  program = "gpu_counted";
  if (strcmp(which, "forked") == 0) find_driver();
  run_pair("gpu_counted", run_side);
  printf("gpu_counted: everything is right\n");
  return 0;
}
