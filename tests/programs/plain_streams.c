// Two processes that send each other, and themselves, streams of bytes through UCP, without any
// MPI: with every send function, received with every receive function in other portions than they
// were sent, over several endpoints between the same two workers. Every byte is checked. Each
// writes what it sent as one JSON object a line.
//
//     plain_streams [TRUTH-PREFIX]

#include "ucp_truth.h"

static const size_t kSizes[] = {1, 8, 100, 3000, 8192, 20000, 100000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kUnread = 77, kMostAtOnce = 50000 };

// What goes over one endpoint: `at` is where in its stream.
struct way {
  ucp_ep_h endpoint;
  int to;
  size_t sent_at, got_at;
};

static unsigned char content(size_t at) { return (unsigned char)(at * 7 + at / 251); }

// --- sending -------------------------------------------------------------------------------------

enum { kSendForms = 3 };

static void send_bytes(struct side* side, struct way* way, unsigned form, size_t bytes) {
  unsigned char* data = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = content(way->sent_at + i);
  ucp_request_param_t param = {0};
  if (form == 0) {
    finish(side, ucp_stream_send_nbx(way->endpoint, data, bytes, &param), "ucp_stream_send_nbx");
  } else if (form == 1) {
    finish(side, ucp_stream_send_nb(way->endpoint, data, bytes, ucp_dt_make_contig(1), ignore, 0),
           "ucp_stream_send_nb");
  } else {
    const size_t first = bytes / 3;
    const ucp_dt_iov_t parts[] = {{data, first}, {data + first, bytes - first}};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_iov();
    finish(side, ucp_stream_send_nbx(way->endpoint, parts, 2, &param), "ucp_stream_send_nbx");
  }
  called(form == 1 ? "ucp_stream_send_nb" : "ucp_stream_send_nbx", "stream", way->to, bytes);
  way->sent_at += bytes;
  free(data);
}

// --- receiving -----------------------------------------------------------------------------------

enum { kReceiveForms = 5 };

static void check_bytes(struct way* way, const unsigned char* data, size_t bytes) {
  check(bytes > 0, "receiving");
  for (size_t i = 0; i < bytes; ++i) check(data[i] == content(way->got_at + i), "comparing bytes");
  way->got_at += bytes;
}

static size_t called_back_with;

static void on_bytes(void* request, ucs_status_t status, size_t bytes, void* user_data) {
  (void)request;
  check_ucs(status, "receiving with a callback");
  *(size_t*)user_data = bytes;
}

static void on_bytes_of_older(void* request, ucs_status_t status, size_t bytes) {
  (void)request;
  check_ucs(status, "receiving with a callback");
  called_back_with = bytes;
}

// How many bytes came with a receive that returned `request`.
static size_t received(struct side* side, ucs_status_ptr_t request, size_t at_return,
                       const size_t* by_callback) {
  if (request == NULL) return at_return;
  check(!UCS_PTR_IS_ERR(request), "receiving");
  size_t bytes = 0;
  while (ucp_stream_recv_request_test(request, &bytes) == UCS_INPROGRESS) {
    ucp_worker_progress(side->worker);
  }
  check(by_callback == NULL || *by_callback == bytes, "the callback's length");
  ucp_request_free(request);
  return bytes;
}

static void take_fragment(struct side* side, struct way* way) {
  size_t bytes;
  ucs_status_ptr_t data;
  while ((data = ucp_stream_recv_data_nb(way->endpoint, &bytes)) == NULL) {
    ucp_worker_progress(side->worker);
  }
  check(!UCS_PTR_IS_ERR(data), "ucp_stream_recv_data_nb");
  check_bytes(way, data, bytes);
  ucp_stream_data_release(way->endpoint, data);
}

// At most `most` bytes; form 0 takes all of them or waits.
static void receive_some(struct side* side, struct way* way, unsigned form, size_t most) {
  unsigned char* data = make_buffer(most);
  size_t bytes = 0, by_callback = 0;
  ucp_request_param_t param = {0};
  ucs_status_ptr_t request;
  const size_t* told = NULL;
  if (form == 0) {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    request = ucp_stream_recv_nbx(way->endpoint, data, most, &bytes, &param);
  } else if (form == 1) {
    request = ucp_stream_recv_nbx(way->endpoint, data, most, &bytes, &param);
  } else if (form == 2) {
    request = ucp_stream_recv_nb(way->endpoint, data, most, ucp_dt_make_contig(1),
                                 on_bytes_of_older, &bytes, 0);
    told = &called_back_with;
  } else {
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_stream = on_bytes;
    param.user_data = &by_callback;
    request = ucp_stream_recv_nbx(way->endpoint, data, most, &bytes, &param);
    told = &by_callback;
  }
  bytes = received(side, request, bytes, told);
  check(form != 0 || bytes == most, "waiting for all");
  check_bytes(way, data, bytes);
  free(data);
}

static void receive_up_to(struct side* side, struct way* way, size_t end) {
  for (unsigned form = 0; way->got_at < end; ++form) {
    const size_t left = end - way->got_at;
    // A fragment may hold bytes beyond the end; the last ones are for receives of a known size.
    if (form % kReceiveForms == kReceiveForms - 1 && left > 3 * (size_t)kMostAtOnce) {
      take_fragment(side, way);
    } else {
      receive_some(side, way, form % (kReceiveForms - 1), left < kMostAtOnce ? left : kMostAtOnce);
    }
  }
}

// A receive that is posted before the bytes arrive.
static void receive_expected(struct side* side, struct way* way, size_t bytes) {
  unsigned char* data = make_buffer(bytes);
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                     .flags = UCP_STREAM_RECV_FLAG_WAITALL};
  size_t at_return;
  ucs_status_ptr_t request = ucp_stream_recv_nbx(way->endpoint, data, bytes, &at_return, &param);
  send_bytes(side, way, 0, bytes);
  check(received(side, request, at_return, NULL) == bytes, "the expected bytes");
  check_bytes(way, data, bytes);
  free(data);
}

// --- the two sides -------------------------------------------------------------------------------

enum { kWays = 3 };

static void run_side(struct side* side) {
  open_truth();
  open_side(side, UCP_FEATURE_STREAM);
  const int own = (int)getpid();
  int other;
  write_all(side->channel, &own, sizeof own);
  read_all(side->channel, &other, sizeof other);
  const ucp_ep_h second = connect_to_other(side);
  struct way ways[kWays] = {{.endpoint = side->to_other, .to = other},
                            {.endpoint = second, .to = other},
                            {.endpoint = side->to_self, .to = own}};
  for (int w = 0; w < kWays; ++w) receive_expected(side, &ways[w], 5000);
  for (unsigned i = 0; i < kSizeCount; ++i) {
    for (unsigned form = 0; form < kSendForms; ++form) {
      for (int w = 0; w < kWays; ++w) send_bytes(side, &ways[w], form, kSizes[i]);
    }
    for (int w = 0; w < kWays; ++w) receive_up_to(side, &ways[w], ways[w].sent_at);
  }
  for (int w = 0; w < kWays; ++w) send_bytes(side, &ways[w], 0, kUnread);
  meet(side);
  if (truth_file != NULL) check(fclose(truth_file) == 0, "writing the truth file");
  close_endpoint(side, second);
  close_side(side);
}

int main(int argc, char** argv) {
  truth_prefix = argc > 1 ? argv[1] : NULL;
  run_pair("plain_streams", run_side);
  printf("plain_streams: every byte is right\n");
  return 0;
}
