// Two processes of which the first moves more than 2 GiB to the other in single UCP operations,
// without any MPI: a tag message, one of a list of buffers, and a put. Both write what they called
// as one JSON object a line.
//
//     plain_big [TRUTH-PREFIX]

#define _GNU_SOURCE
#include "folded.h"
#include "ucp_truth.h"

static const size_t kBigBytes = 9ull << 28;  // 2.25 GiB
enum { kListParts = 9, kTag = 0x51, kListTag = 0x52 };

static void send_big(struct side* side, const unsigned char* data, int to) {
  const ucp_request_param_t defaults = {0};
  const ucp_request_param_t of_list = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                       .datatype = ucp_dt_make_iov()};
  finish(side, ucp_tag_send_nbx(side->to_other, data, kBigBytes, kTag, &defaults), "sending");
  called("ucp_tag_send_nbx", "tag", to, kBigBytes);
  ucp_dt_iov_t parts[kListParts];
  for (int i = 0; i < kListParts; ++i) {
    parts[i] = (ucp_dt_iov_t){(void*)(data + i * (kBigBytes / kListParts)), kBigBytes / kListParts};
  }
  finish(side, ucp_tag_send_nbx(side->to_other, parts, kListParts, kListTag, &of_list), "sending");
  called("ucp_tag_send_nbx", "tag", to, kBigBytes);
}

static void receive_big(struct side* side, unsigned char* data, ucp_tag_t tag) {
  const ucp_request_param_t defaults = {0};
  memset(data, 0, kFoldBytes);
  finish(side, ucp_tag_recv_nbx(side->worker, data, kBigBytes, tag, UINT64_MAX, &defaults),
         "receiving");
  check(is_folded(data, 1), "comparing contents");
}

static void put_big(struct side* side, const unsigned char* data, int to) {
  const ucp_request_param_t defaults = {0};
  uint64_t region, key_bytes;
  read_all(side->channel, &region, sizeof region);
  read_all(side->channel, &key_bytes, sizeof key_bytes);
  unsigned char* packed = make_buffer(key_bytes);
  read_all(side->channel, packed, key_bytes);
  ucp_rkey_h key;
  check_ucs(ucp_ep_rkey_unpack(side->to_other, packed, &key), "ucp_ep_rkey_unpack");
  finish(side, ucp_put_nbx(side->to_other, data, kBigBytes, region, key, &defaults), "putting");
  called("ucp_put_nbx", "put", to, kBigBytes);
  finish(side, ucp_ep_flush_nbx(side->to_other, &defaults), "ucp_ep_flush_nbx");
  ucp_rkey_destroy(key);
  free(packed);
}

static ucp_mem_h offer(struct side* side, unsigned char* data) {
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = data,
      .length = kBigBytes};
  const uint64_t region = (uint64_t)(uintptr_t)data;
  ucp_mem_h memory;
  void* key;
  size_t key_bytes;
  check_ucs(ucp_mem_map(side->context, &params, &memory), "ucp_mem_map");
  check_ucs(ucp_rkey_pack(side->context, memory, &key, &key_bytes), "ucp_rkey_pack");
  const uint64_t sent_bytes = key_bytes;
  write_all(side->channel, &region, sizeof region);
  write_all(side->channel, &sent_bytes, sizeof sent_bytes);
  write_all(side->channel, key, key_bytes);
  ucp_rkey_buffer_release(key);
  return memory;
}

static void run_side(struct side* side) {
  open_truth();
  open_side(side, UCP_FEATURE_TAG | UCP_FEATURE_RMA);
  const int own = (int)getpid();
  int other;
  write_all(side->channel, &own, sizeof own);
  read_all(side->channel, &other, sizeof other);
  unsigned char* data = make_folded(kBigBytes);
  check(data != NULL, "mapping memory");
  ucp_mem_h memory = NULL;
  if (side->number == 0) {
    fill_folded(data, 1);
    send_big(side, data, other);
    put_big(side, data, other);
  } else {
    receive_big(side, data, kTag);
    receive_big(side, data, kListTag);
    memset(data, 0, kFoldBytes);
    memory = offer(side, data);
  }
  meet(side);
  if (memory != NULL) {
    check(is_folded(data, 1), "comparing what was put");
    check_ucs(ucp_mem_unmap(side->context, memory), "ucp_mem_unmap");
  }
  if (truth_file != NULL) check(fclose(truth_file) == 0, "writing the truth file");
  close_side(side);
}

int main(int argc, char** argv) {
  truth_prefix = argc > 1 ? argv[1] : NULL;
  run_pair("plain_big", run_side);
  printf("plain_big: everything is right\n");
  return 0;
}
