// Every form of UCP's active messages: handlers that check the messages, and the sends to them.
#pragma once

#include "ucp_truth.h"

enum { kOlder = 1, kWithHeader, kRendezvous, kAsking, kAnswer, kHeaderBytes = 40 };

// By handler: how many came, and what they must hold.
static unsigned arrived[kAnswer + 1], fetched;

static unsigned char am_content(int id, size_t i) { return (unsigned char)(id * 31 + i * 7); }

static void count_message(int id, const unsigned char* header, size_t header_bytes,
                          size_t data_bytes) {
  for (size_t i = 0; i < header_bytes; ++i) {
    check(header[i] == am_content(id + 100, i), "comparing headers");
  }
  ++arrived[id];
  called("active message handler", "am_receive", (int)getpid(), header_bytes + data_bytes);
}

static void check_data(int id, const unsigned char* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) check(data[i] == am_content(id, i), "comparing messages");
}

static ucs_status_t on_older(void* argument, void* data, size_t bytes, ucp_ep_h reply,
                             unsigned flags) {
  (void)argument, (void)reply, (void)flags;
  count_message(kOlder, NULL, 0, bytes);
  check_data(kOlder, data, bytes);
  return UCS_OK;
}

static ucs_status_t on_message(void* argument, const void* header, size_t header_bytes, void* data,
                               size_t bytes, const ucp_am_recv_param_t* param) {
  const int id = *(int*)argument;
  check(id != kWithHeader || header_bytes == kHeaderBytes, "the header's length");
  count_message(id, header, header_bytes, bytes);
  check_data(id, data, bytes);
  if (id == kAsking) {
    // Its handler takes the data itself, and protocols v2 may prefer a rendezvous for any size.
    const ucp_request_param_t eager = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER};
    static unsigned char answer[100];
    check((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0, "an endpoint to answer by");
    for (size_t i = 0; i < sizeof answer; ++i) answer[i] = am_content(kAnswer, i);
    ucs_status_ptr_t request =
        ucp_am_send_nbx(param->reply_ep, kAnswer, NULL, 0, answer, sizeof answer, &eager);
    check(!UCS_PTR_IS_ERR(request), "answering");
    called("ucp_am_send_nbx", "am", -1, sizeof answer);
    if (request != NULL) ucp_request_release(request);
  }
  return UCS_OK;
}

static void on_data(void* request, ucs_status_t status, size_t bytes, void* buffer) {
  check_ucs(status, "ucp_am_recv_data_nbx");
  check_data(kRendezvous, buffer, bytes);
  free(buffer);
  if (request != NULL) ucp_request_free(request);
  ++fetched;
}

static ucs_status_t on_rendezvous(void* argument, const void* header, size_t header_bytes,
                                  void* data, size_t bytes, const ucp_am_recv_param_t* param) {
  struct side* side = argument;
  check(header_bytes == kHeaderBytes, "the header's length");
  check((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0, "a rendezvous");
  count_message(kRendezvous, header, header_bytes, bytes);
  unsigned char* buffer = make_buffer(bytes);
  const ucp_request_param_t param_of_data = {
      .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
      .cb.recv_am = on_data,
      .user_data = buffer};
  ucs_status_ptr_t request =
      ucp_am_recv_data_nbx(side->worker, data, buffer, bytes, &param_of_data);
  called("ucp_am_recv_data_nbx", "am_data", (int)getpid(), bytes);
  if (!UCS_PTR_IS_PTR(request)) on_data(NULL, UCS_PTR_STATUS(request), bytes, buffer);
  return UCS_INPROGRESS;
}

static void set_handler(struct side* side, unsigned id, ucp_am_recv_callback_t callback,
                        void* argument) {
  const ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                      UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                        .id = id,
                                        .cb = callback,
                                        .arg = argument};
  check_ucs(ucp_worker_set_am_recv_handler(side->worker, &param), "ucp_worker_set_am_recv_handler");
}

static void set_handlers(struct side* side) {
  static int ids[] = {kWithHeader, kAsking, kAnswer};
  check_ucs(ucp_worker_set_am_handler(side->worker, kOlder, on_older, NULL, 0),
            "ucp_worker_set_am_handler");
  for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i) {
    set_handler(side, (unsigned)ids[i], on_message, &ids[i]);
  }
  set_handler(side, kRendezvous, on_rendezvous, side);
}

static void send_messages(const struct target* target, size_t bytes) {
  struct side* side = target->side;
  unsigned char header[kHeaderBytes], *data = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = am_content(kOlder, i);
  finish(side,
         ucp_am_send_nb(target->endpoint, kOlder, data, bytes, ucp_dt_make_contig(1), ignore, 0),
         "ucp_am_send_nb");
  called("ucp_am_send_nb", "am", target->pid, bytes);
  for (int id = kWithHeader; id <= kAsking; ++id) {
    const uint32_t flags[] = {UCP_AM_SEND_FLAG_EAGER, UCP_AM_SEND_FLAG_RNDV,
                              UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER};
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = flags[id - kWithHeader]};
    const size_t header_bytes = id == kAsking ? 0 : kHeaderBytes;
    for (size_t i = 0; i < bytes; ++i) data[i] = am_content(id, i);
    for (size_t i = 0; i < header_bytes; ++i) header[i] = am_content(id + 100, i);
    finish(
        side,
        ucp_am_send_nbx(target->endpoint, (unsigned)id, header, header_bytes, data, bytes, &param),
        "ucp_am_send_nbx");
    called("ucp_am_send_nbx", "am", target->pid, bytes + header_bytes);
  }
  free(data);
}
