// Two processes without any MPI that offer each other memory of several kinds, and put to it, get
// from it and change it by atomic operations, out of memory of several kinds; all contents are
// checked. Each process writes what it called as one JSON object a line, with the memory at both
// ends. No two operations of a process move the same number of bytes, but for the atomic ones.
//
//     gpu_rma WHICH [TRUTH-PREFIX]
//
// WHICH: `all` kinds, or those whose allocation UCX 1.13 sees (`seen`).

#include "gpu_pair.h"

static const size_t kSizes[] = {8, 5000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kWindowBytes = 1000000, kCounters = 4096 };

// `pieces` is mapped memory, of which the first part is on one GPU and the rest on another one.
static const char* const kWindows[] = {"host", "device", "managed", "pool", "vmm", "pieces"};
static const char* const kBuffers[] = {"host", "device", "managed"};
enum {
  kMostWindows = sizeof kWindows / sizeof *kWindows,
  kBufferCount = sizeof kBuffers / sizeof *kBuffers
};

// Memory on one device.
struct part {
  struct memory memory;
  CUdevice device;
};

struct window {
  const char* name;
  struct memory whole;  // beginning with counters, which only atomic operations touch
  size_t first_bytes;   // on the process's own device; the rest, if any, on the other one
  ucp_mem_h handle;
  // Of the other process:
  uint64_t there;
  ucp_rkey_h key;
};

static int window_count;
static struct window windows[kMostWindows];
static struct part buffers[kBufferCount];
static CUdevice devices[2];
static int other_pid;
static size_t moved;  // operations so far, for bytes that differ

// --- memory --------------------------------------------------------------------------------------

static void open_devices(int number) {
  devices[1] = use_device(number + 1);
  devices[0] = use_device(number);
}

static void make_window(struct window* window, const char* name) {
  window->name = name;
  if (strcmp(name, "pieces") != 0) {
    window->whole = allocate_memory(name, kWindowBytes);
    window->first_bytes = window->whole.bytes;
    return;
  }
  const size_t piece = whole_pages(devices[0], 1);
  window->whole = (struct memory){.kind = find_kind("vmm"), .bytes = 2 * piece};
  window->first_bytes = piece;
  CHECK_CUDA(cuMemAddressReserve(&window->whole.address, 2 * piece, 0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    map_memory_at(window->whole.address + (CUdeviceptr)i * piece, devices[i], piece);
  }
}

static void offer(struct side* side, struct window* window) {
  const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                     UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                     UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                       .address = buffer_of(window->whole),
                                       .length = window->whole.bytes,
                                       .memory_type = ucx_type_of(window->whole.kind)};
  void* key;
  size_t key_bytes, other_bytes;
  check_ucs(ucp_mem_map(side->context, &params, &window->handle), "ucp_mem_map");
  check_ucs(ucp_rkey_pack(side->context, window->handle, &key, &key_bytes), "ucp_rkey_pack");
  const uint64_t own = window->whole.address;
  write_all(side->channel, &own, sizeof own);
  write_all(side->channel, &key_bytes, sizeof key_bytes);
  write_all(side->channel, key, key_bytes);
  read_all(side->channel, &window->there, sizeof window->there);
  read_all(side->channel, &other_bytes, sizeof other_bytes);
  unsigned char* other_key = make_buffer(other_bytes);
  read_all(side->channel, other_key, other_bytes);
  check_ucs(ucp_ep_rkey_unpack(side->to_other, other_key, &window->key), "ucp_ep_rkey_unpack");
  ucp_rkey_buffer_release(key);
  free(other_key);
}

// --- operations ----------------------------------------------------------------------------------

// `at` is where in the window. What it lies on there is told by the window alone, for both
// processes make the same ones, each beginning with its own device.
static void tell(const char* kind, const struct part* own, const struct window* window, size_t at,
                 size_t bytes) {
  if (truth_file == NULL) return;
  fprintf(truth_file, "{\"kind\":\"%s\",\"by\":%d,\"to\":%d,\"bytes\":%zu,\"own\":{", kind,
          (int)getpid(), other_pid, bytes);
  write_place(own->memory.kind->memory, own->device);
  fprintf(truth_file, "},\"target\":{");
  // The other process begins with the device that is this one's second.
  write_place(window->whole.kind->memory, devices[at < window->first_bytes]);
  fprintf(truth_file, "}}\n");
}

static void flush(struct side* side) {
  const ucp_request_param_t defaults = {0};
  finish(side, ucp_ep_flush_nbx(side->to_other, &defaults), "ucp_ep_flush_nbx");
}

static ucp_request_param_t param_of(const struct part* own) {
  return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                               .memory_type = ucx_type_of(own->memory.kind)};
}

// Written, and read back into another part of the same buffer.
static void there_and_back(struct side* side, const struct part* own, const struct window* window,
                           size_t at, size_t about) {
  struct memory sent = own->memory, got = own->memory;
  got.address += kWindowBytes;
  const ucp_request_param_t param = param_of(own);
  const uint64_t there = window->there + at;
  const size_t bytes = about + ++moved;
  fill_memory(sent, bytes, moved);
  finish(side, ucp_put_nbx(side->to_other, buffer_of(sent), bytes, there, window->key, &param),
         "ucp_put_nbx");
  tell("put", own, window, at, bytes);
  flush(side);
  finish(side, ucp_get_nbx(side->to_other, buffer_of(got), bytes, there, window->key, &param),
         "ucp_get_nbx");
  tell("get", own, window, at, bytes);
  flush(side);
  if (!memory_holds(got, bytes, moved)) {
    fail("wrong contents of %zu bytes in %s memory", bytes, window->name);
  }
}

// Where the CPU can do it, for UCX lets it.
static void add(struct side* side, const struct window* window) {
  const struct part on_host = {.memory = {.kind = find_kind("host")}};
  ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                               .datatype = ucp_dt_make_contig(8)};
  uint64_t operand = 5, found = 0;
  finish(side,
         ucp_atomic_op_nbx(side->to_other, UCP_ATOMIC_OP_ADD, &operand, 1, window->there,
                           window->key, &param),
         "ucp_atomic_op_nbx");
  tell("atomic", &on_host, window, 0, 8);
  flush(side);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  param.reply_buffer = &found;
  finish(side,
         ucp_atomic_op_nbx(side->to_other, UCP_ATOMIC_OP_ADD, &operand, 1, window->there,
                           window->key, &param),
         "ucp_atomic_op_nbx");
  tell("atomic", &on_host, window, 0, 8);
  flush(side);
  if (found != 5) fail("wrong counter in %s memory", window->name);
}

static void use_window(struct side* side, const struct window* window) {
  for (int b = 0; b < kBufferCount; ++b) {
    for (int size = 0; size < kSizeCount; ++size) {
      there_and_back(side, &buffers[b], window, kCounters, kSizes[size]);
      if (window->first_bytes < window->whole.bytes) {
        there_and_back(side, &buffers[b], window, window->first_bytes + kCounters, kSizes[size]);
      }
    }
  }
  if (strcmp(window->name, "host") == 0 || strcmp(window->name, "managed") == 0) add(side, window);
}

static void run_side(struct side* side) {
  open_truth();
  open_devices(side->number);
  const int own_pid = getpid();
  write_all(side->channel, &own_pid, sizeof own_pid);
  read_all(side->channel, &other_pid, sizeof other_pid);
  for (int b = 0; b < kBufferCount; ++b) {
    buffers[b] = (struct part){allocate_memory(kBuffers[b], 2 * kWindowBytes), devices[0]};
  }
  open_side(side, UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
  for (int w = 0; w < window_count; ++w) {
    make_window(&windows[w], kWindows[w]);
    offer(side, &windows[w]);
  }
  for (int w = 0; w < window_count; ++w) use_window(side, &windows[w]);
  meet(side);
  for (int w = 0; w < window_count; ++w) {
    ucp_rkey_destroy(windows[w].key);
    check_ucs(ucp_mem_unmap(side->context, windows[w].handle), "ucp_mem_unmap");
  }
  close_side(side);
  if (truth_file != NULL) check(fclose(truth_file) == 0, "writing the truth file");
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  window_count = strcmp(which, "all") == 0 ? kMostWindows : strcmp(which, "seen") == 0 ? 3 : 0;
  if (window_count == 0) {
    fprintf(stderr, "usage: gpu_rma all|seen [TRUTH-PREFIX]\n");
    return 2;
  }
  truth_prefix = argc > 2 ? argv[2] : NULL;
  run_pair("gpu_rma", run_side);
  printf("gpu_rma: everything is right\n");
  return 0;
}
