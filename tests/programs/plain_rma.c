// Two processes that use every form of UCP's put, get, atomic operations, flushes and active
// messages, without any MPI, to the other process and to themselves; every content is checked. Each
// writes what it called as one JSON object a line.
//
//     plain_rma [TRUTH-PREFIX]

#include "ucp_active.h"

static const size_t kSizes[] = {1, 8, 3000, 9000, 100000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kRegionBytes = 1048576 };

// What a process offers to one source: room for puts and the variables of its atomic operations.
struct region {
  unsigned char bytes[kRegionBytes];
  uint64_t wide;
  uint32_t narrow;
};
enum { kFromOther, kFromSelf, kRegions };

// --- flushes -------------------------------------------------------------------------------------

static void flush(const struct target* target, unsigned form) {
  static const char* const kForms[] = {"ucp_ep_flush_nb",     "ucp_ep_flush_nbx",
                                       "ucp_worker_flush_nb", "ucp_worker_flush_nbx",
                                       "ucp_ep_flush",        "ucp_worker_flush"};
  const ucp_request_param_t defaults = {0};
  struct side* side = target->side;
  const char* name = kForms[form % (sizeof kForms / sizeof *kForms)];
  switch (form % (sizeof kForms / sizeof *kForms)) {
    case 0:
      finish(side, ucp_ep_flush_nb(target->endpoint, 0, ignore), name);
      break;
    case 1:
      finish(side, ucp_ep_flush_nbx(target->endpoint, &defaults), name);
      break;
    case 2:
      finish(side, ucp_worker_flush_nb(side->worker, 0, ignore), name);
      break;
    case 3:
      finish(side, ucp_worker_flush_nbx(side->worker, &defaults), name);
      break;
    case 4:
      check_ucs(ucp_ep_flush(target->endpoint), name);
      break;
    default:
      check_ucs(ucp_worker_flush(side->worker), name);
  }
  called(name, "flush", target->pid, 0);
  if (strstr(name, "worker") != NULL) {
    // The worker flush of UCX 1.13 does not wait for operations that were queued for lack of
    // resources.
    finish(side, ucp_ep_flush_nbx(target->endpoint, &defaults), "ucp_ep_flush_nbx");
    called("ucp_ep_flush_nbx", "flush", target->pid, 0);
  }
  check_ucs(ucp_worker_fence(side->worker), "ucp_worker_fence");
  called("ucp_worker_fence", "flush", target->pid, 0);
}

// --- put and get ---------------------------------------------------------------------------------

enum { kCopyForms = 4 };

static void put(const struct target* target, unsigned form, const unsigned char* from,
                size_t bytes) {
  static const char* const kForms[] = {"ucp_put", "ucp_put_nb", "ucp_put_nbi", "ucp_put_nbx"};
  const ucp_request_param_t defaults = {0};
  if (form == 0) {
    check_ucs(ucp_put(target->endpoint, from, bytes, target->region, target->key), "ucp_put");
  } else if (form == 1) {
    finish(target->side,
           ucp_put_nb(target->endpoint, from, bytes, target->region, target->key, ignore),
           kForms[form]);
  } else if (form == 2) {
    check(ucp_put_nbi(target->endpoint, from, bytes, target->region, target->key) >= 0,
          kForms[form]);
  } else {
    finish(target->side,
           ucp_put_nbx(target->endpoint, from, bytes, target->region, target->key, &defaults),
           kForms[form]);
  }
  called(kForms[form], "put", target->pid, bytes);
}

static void get(const struct target* target, unsigned form, unsigned char* to, size_t bytes) {
  static const char* const kForms[] = {"ucp_get", "ucp_get_nb", "ucp_get_nbi", "ucp_get_nbx"};
  const ucp_request_param_t defaults = {0};
  if (form == 0) {
    check_ucs(ucp_get(target->endpoint, to, bytes, target->region, target->key), "ucp_get");
  } else if (form == 1) {
    finish(target->side,
           ucp_get_nb(target->endpoint, to, bytes, target->region, target->key, ignore),
           kForms[form]);
  } else if (form == 2) {
    check(ucp_get_nbi(target->endpoint, to, bytes, target->region, target->key) >= 0, kForms[form]);
  } else {
    finish(target->side,
           ucp_get_nbx(target->endpoint, to, bytes, target->region, target->key, &defaults),
           kForms[form]);
  }
  called(kForms[form], "get", target->pid, bytes);
}

// Written in one form, flushed, and read back in the next.
static void copy_there_and_back(const struct target* target, unsigned form, size_t bytes) {
  unsigned char *sent = make_buffer(bytes), *got = make_buffer(bytes);
  for (size_t i = 0; i < bytes; ++i) sent[i] = (unsigned char)(form * 31 + bytes * 7 + i);
  put(target, form, sent, bytes);
  flush(target, form + (unsigned)bytes);
  get(target, (form + 1) % kCopyForms, got, bytes);
  flush(target, form + 1);
  check(memcmp(sent, got, bytes) == 0, "comparing contents");
  free(sent);
  free(got);
}

// --- atomic operations ---------------------------------------------------------------------------

static const ucp_request_param_t kAtomic[] = {
    {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(4)},
    {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)}};

static uint64_t result_of(const uint64_t* result, size_t bytes) {
  return bytes == 8 ? *result : *(const uint32_t*)result;
}

// On a variable of `bytes`, which is 0 before and after.
static void all_atomics(const struct target* target, size_t bytes) {
  const uint64_t at = target->region + (bytes == 8 ? offsetof(struct region, wide)
                                                   : offsetof(struct region, narrow));
  const int pid = target->pid;
  ucp_ep_h ep = target->endpoint;
  ucp_request_param_t posts = kAtomic[bytes == 8], fetches = posts;
  uint64_t result = 99, operand = 5;
  check_ucs(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_ADD, 3, bytes, at, target->key), "atomic_post");
  called("ucp_atomic_post", "atomic", pid, bytes);
  flush(target, 0);
  finish(
      target->side,
      ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_FADD, 4, &result, bytes, at, target->key, ignore),
      "ucp_atomic_fetch_nb");
  called("ucp_atomic_fetch_nb", "atomic", pid, bytes);
  check(result_of(&result, bytes) == 3, "fetching after a post");
  // 7: add in both ways that nbx has without a result, then fetch.
  finish(target->side,
         ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &operand, 1, at, target->key, &posts),
         "ucp_atomic_op_nbx");
  called("ucp_atomic_op_nbx", "atomic", pid, bytes);
  posts.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  finish(target->side,
         ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &operand, 1, at, target->key, &posts),
         "ucp_atomic_op_nbx");
  called("ucp_atomic_op_nbx", "atomic", pid, bytes);
  flush(target, 1);
  fetches.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  fetches.reply_buffer = &result;
  finish(target->side,
         ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_SWAP, &operand, 1, at, target->key, &fetches),
         "ucp_atomic_op_nbx");
  called("ucp_atomic_op_nbx", "atomic", pid, bytes);
  check(result_of(&result, bytes) == 17, "swapping");
  result = 6;  // in: what to put there if 5 is found; out: what was found
  finish(target->side,
         ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_CSWAP, &operand, 1, at, target->key, &fetches),
         "ucp_atomic_op_nbx");
  called("ucp_atomic_op_nbx", "atomic", pid, bytes);
  check(result_of(&result, bytes) == 5, "comparing and swapping");
}

static void atomics32(const struct target* target) {
  const uint64_t at = target->region + offsetof(struct region, narrow);
  ucp_ep_h ep = target->endpoint;
  uint32_t result;
  all_atomics(target, 4);
  check_ucs(ucp_atomic_add32(ep, 1, at, target->key), "ucp_atomic_add32");
  called("ucp_atomic_add32", "atomic", target->pid, 4);
  flush(target, 2);
  check_ucs(ucp_atomic_fadd32(ep, 1, at, target->key, &result), "ucp_atomic_fadd32");
  called("ucp_atomic_fadd32", "atomic", target->pid, 4);
  check(result == 7, "ucp_atomic_fadd32");
  check_ucs(ucp_atomic_swap32(ep, 2, at, target->key, &result), "ucp_atomic_swap32");
  called("ucp_atomic_swap32", "atomic", target->pid, 4);
  check(result == 8, "ucp_atomic_swap32");
  check_ucs(ucp_atomic_cswap32(ep, 2, 0, at, target->key, &result), "ucp_atomic_cswap32");
  called("ucp_atomic_cswap32", "atomic", target->pid, 4);
  check(result == 2, "ucp_atomic_cswap32");
}

static void atomics64(const struct target* target) {
  const uint64_t at = target->region + offsetof(struct region, wide);
  ucp_ep_h ep = target->endpoint;
  uint64_t result;
  all_atomics(target, 8);
  check_ucs(ucp_atomic_add64(ep, 1, at, target->key), "ucp_atomic_add64");
  called("ucp_atomic_add64", "atomic", target->pid, 8);
  flush(target, 3);
  check_ucs(ucp_atomic_fadd64(ep, 1, at, target->key, &result), "ucp_atomic_fadd64");
  called("ucp_atomic_fadd64", "atomic", target->pid, 8);
  check(result == 7, "ucp_atomic_fadd64");
  check_ucs(ucp_atomic_swap64(ep, 2, at, target->key, &result), "ucp_atomic_swap64");
  called("ucp_atomic_swap64", "atomic", target->pid, 8);
  check(result == 8, "ucp_atomic_swap64");
  check_ucs(ucp_atomic_cswap64(ep, 2, 0, at, target->key, &result), "ucp_atomic_cswap64");
  called("ucp_atomic_cswap64", "atomic", target->pid, 8);
  check(result == 2, "ucp_atomic_cswap64");
}

// --- the run -------------------------------------------------------------------------------------

static void exchange_words(struct side* side, const void* own, void* other, size_t bytes) {
  write_all(side->channel, own, bytes);
  read_all(side->channel, other, bytes);
}

// Registers a region for each source and tells the other side of its own.
static struct region* offer_regions(struct side* side, ucp_mem_h* memory,
                                    struct target targets[kRegions]) {
  struct region* regions = calloc(kRegions, sizeof *regions);
  check(regions != NULL, "calloc");
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = regions,
      .length = kRegions * sizeof *regions};
  void* key;
  size_t key_bytes, other_bytes;
  check_ucs(ucp_mem_map(side->context, &params, memory), "ucp_mem_map");
  check_ucs(ucp_rkey_pack(side->context, *memory, &key, &key_bytes), "ucp_rkey_pack");
  const uint64_t own[] = {(uint64_t)(uintptr_t)&regions[kFromOther], (uint64_t)getpid()};
  uint64_t other[2];
  exchange_words(side, own, other, sizeof own);
  exchange_words(side, &key_bytes, &other_bytes, sizeof key_bytes);
  unsigned char* other_key = make_buffer(other_bytes);
  write_all(side->channel, key, key_bytes);
  read_all(side->channel, other_key, other_bytes);
  targets[kFromOther] = (struct target){
      .side = side, .endpoint = side->to_other, .region = other[0], .pid = (int)other[1]};
  targets[kFromSelf] = (struct target){.side = side,
                                       .endpoint = side->to_self,
                                       .region = (uint64_t)(uintptr_t)&regions[kFromSelf],
                                       .pid = (int)getpid()};
  check_ucs(ucp_ep_rkey_unpack(side->to_other, other_key, &targets[kFromOther].key), "rkey_unpack");
  check_ucs(ucp_ep_rkey_unpack(side->to_self, key, &targets[kFromSelf].key), "rkey_unpack");
  ucp_rkey_buffer_release(key);
  free(other_key);
  return regions;
}

static void run_side(struct side* side) {
  struct target targets[kRegions];
  ucp_mem_h memory;
  open_truth();
  open_side(side, UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM);
  set_handlers(side);
  struct region* regions = offer_regions(side, &memory, targets);
  for (int t = 0; t < kRegions; ++t) {
    for (int i = 0; i < kSizeCount; ++i) {
      for (unsigned form = 0; form < kCopyForms; ++form) {
        copy_there_and_back(&targets[t], form, kSizes[i]);
      }
      send_messages(&targets[t], kSizes[i]);
    }
    atomics32(&targets[t]);
    atomics64(&targets[t]);
  }
  const unsigned expected = kRegions * kSizeCount;
  while (arrived[kOlder] < expected || arrived[kWithHeader] < expected ||
         arrived[kAnswer] < expected || fetched < expected) {
    ucp_worker_progress(side->worker);
  }
  for (int t = 0; t < kRegions; ++t) ucp_rkey_destroy(targets[t].key);
  called("ucp_worker_flush_nbx", "flush", (int)getpid(), 0);
  for (int t = 0; t < kRegions; ++t) called("ucp_ep_close_nbx", "flush", targets[t].pid, 0);
  meet(side);
  check_ucs(ucp_mem_unmap(side->context, memory), "ucp_mem_unmap");
  close_side(side);
  free(regions);
  if (truth_file != NULL) check(fclose(truth_file) == 0, "writing the truth file");
}

int main(int argc, char** argv) {
  truth_prefix = argc > 1 ? argv[1] : NULL;
  run_pair("plain_rma", run_side);
  printf("plain_rma: everything is right\n");
  return 0;
}
