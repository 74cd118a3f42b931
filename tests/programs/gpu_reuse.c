// Two processes without any MPI that allocate and free memory at the same addresses: an address has
// one kind of memory, and another one a moment later, on the same or another GPU. Each allocation
// sends and receives a small and a large message, whose contents are checked. Each process writes
// which allocation each message lay in, one JSON object a line.
//
//     gpu_reuse WHICH [TRUTH-PREFIX]
//
// WHICH: `told`: all kinds, and UCX is told what they are; `asked`: all, and it finds out; `seen`:
// those whose allocation UCX 1.13 sees, and it finds out.

#include <sys/mman.h>

#include "gpu_pair.h"

static const size_t kSizes[] = {4000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kBytes = 700000, kRounds = 2, kMargin = 128 };

// Memory of its own each. `host` lies where managed memory was, `vmm` always in the same range.
static const struct step {
  const char* kind;
  int device;  // modulo their number
  size_t bytes;
} kSteps[] = {
    {"device", 0, kBytes},     {"device", 0, kBytes}, {"pool", 0, kBytes},
    {"pool", 0, kBytes},       {"device", 0, kBytes}, {"device", 0, 3 * kBytes},
    {"managed", 0, kBytes},    {"host", 0, kBytes},   {"managed", 1, kBytes},
    {"managed", 0, kBytes},    {"vmm", 0, kBytes},    {"vmm", 1, kBytes},
    {"vmm", 0, 4 * kBytes},    {"vmm", 0, kBytes},    {"device", 1, kBytes},
    {"pool", 1, kBytes},       {"device", 1, kBytes}, {"host", 0, kBytes},
    {"device", 0, 2 * kBytes}, {"pool", 0, kBytes},
};
enum { kStepCount = sizeof kSteps / sizeof *kSteps, kLargest = 4 * kBytes };

static int tells_ucx, only_seen;

// --- memory --------------------------------------------------------------------------------------

static CUdevice devices[2];
static CUcontext contexts[2];
static CUdeviceptr range;  // for `vmm`
static void* was_managed;  // where managed memory was last

struct allocation {
  int number;  // in this process, from 0
  const struct step* step;
  struct memory memory;
};

static int is_kind(const struct allocation* one, const char* kind) {
  return strcmp(one->step->kind, kind) == 0;
}

static void open_devices(void) {
  for (int i = 0; i < 2; ++i) {
    devices[i] = use_device(i);
    CHECK_CUDA(cuCtxGetCurrent(&contexts[i]));
  }
  CHECK_CUDA(cuCtxSetCurrent(contexts[0]));
  CHECK_CUDA(cuMemAddressReserve(&range, whole_pages(devices[0], kLargest), 0, 0, 0));
}

static CUdeviceptr map_host(size_t bytes) {
  const int access = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* at = MAP_FAILED;
  if (was_managed != NULL) {
    at = mmap(was_managed, bytes, access, flags | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (at == MAP_FAILED) at = mmap(NULL, bytes, access, flags, -1, 0);
  check(at != MAP_FAILED, "mmap");
  return (CUdeviceptr)(uintptr_t)at;
}

static void begin(struct allocation* one) {
  const int device = one->step->device;
  const size_t bytes = one->step->bytes;
  if (is_kind(one, "host")) {
    one->memory =
        (struct memory){.kind = find_kind("host"), .address = map_host(bytes), .bytes = bytes};
  } else if (is_kind(one, "vmm")) {
    const size_t whole = whole_pages(devices[device], bytes);
    one->memory = (struct memory){.kind = find_kind("vmm"), .address = range, .bytes = whole};
    map_memory_at(range, devices[device], whole);
  } else {
    CHECK_CUDA(cuCtxSetCurrent(contexts[device]));
    one->memory = allocate_memory(one->step->kind, bytes);
    CHECK_CUDA(cuCtxSetCurrent(contexts[0]));
  }
}

// Without waiting for what comes next.
static void end(const struct allocation* one) {
  if (is_kind(one, "host")) {
    check(munmap(buffer_of(one->memory), one->memory.bytes) == 0, "munmap");
  } else if (is_kind(one, "vmm")) {
    CHECK_CUDA(cuMemUnmap(one->memory.address, one->memory.bytes));
  } else {
    if (is_kind(one, "managed")) was_managed = buffer_of(one->memory);
    CHECK_CUDA(cuCtxSetCurrent(contexts[one->step->device]));
    free_memory(one->memory);
    CHECK_CUDA(cuCtxSetCurrent(contexts[0]));
  }
}

// --- messages ------------------------------------------------------------------------------------

// No two messages of the job have the same tag.
static ucp_tag_t tag_of(int from, int number, int size) {
  return ((ucp_tag_t)from + 1) << 32 | (ucp_tag_t)number << 8 | (ucp_tag_t)size;
}

static void tell(const struct allocation* one, const char* function, ucp_tag_t tag) {
  if (truth_file == NULL) return;
  fprintf(
      truth_file,
      "{\"pid\":%d,\"function\":\"%s\",\"tag\":%llu,\"allocation\":%d,\"kind\":\"%s\",\"begin\":"
      "%llu,\"bytes\":%zu,",
      (int)getpid(), function, (unsigned long long)tag, one->number, one->step->kind,
      one->memory.address, one->memory.bytes);
  write_place(one->memory.kind->memory, devices[one->step->device]);
  fprintf(truth_file, "}\n");
}

// In both directions at once: out of the first part of the memory, into the second one.
static void exchange(struct side* side, const struct allocation* one, int size) {
  const size_t bytes = kSizes[size];
  struct memory sent = one->memory, got = one->memory;
  sent.address += kMargin;
  got.address += kMargin + kSizes[kSizeCount - 1];
  const ucp_tag_t out = tag_of(side->number, one->number, size);
  const ucp_tag_t in = tag_of(!side->number, one->number, size);
  const ucp_request_param_t param = {.op_attr_mask = tells_ucx ? UCP_OP_ATTR_FIELD_MEMORY_TYPE : 0,
                                     .memory_type = ucx_type_of(one->memory.kind)};
  fill_memory(sent, bytes, out);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, buffer_of(got), bytes, in, UINT64_MAX, &param);
  ucs_status_ptr_t send = ucp_tag_send_nbx(side->to_other, buffer_of(sent), bytes, out, &param);
  finish(side, send, "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  if (!memory_holds(got, bytes, in)) fail("wrong contents of %s memory", one->step->kind);
  tell(one, "ucp_tag_send_nbx", out);
  tell(one, "ucp_tag_recv_nbx", in);
}

static int is_used(const struct step* step) {
  const int unseen = strcmp(step->kind, "pool") == 0 || strcmp(step->kind, "vmm") == 0;
  return !(only_seen && unseen);
}

// Both processes go through the same steps, but not at the same time: else the two ends of a
// message would always lie alike.
static void run_side(struct side* side) {
  open_truth();
  open_devices();
  open_side(side, UCP_FEATURE_TAG);
  static struct step steps[kStepCount];
  int count = 0, number = 0;
  for (int i = 0; i < kStepCount; ++i) {
    if (is_used(&kSteps[i])) steps[count++] = kSteps[i];
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < count; ++i) {
      const int at = (i + side->number * (1 + round)) % count;
      struct allocation one = {.number = number++, .step = &steps[at]};
      begin(&one);
      for (int size = 0; size < kSizeCount; ++size) exchange(side, &one, size);
      end(&one);
    }
  }
  meet(side);
  close_side(side);
  if (truth_file != NULL) check(fclose(truth_file) == 0, "writing the truth file");
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  tells_ucx = strcmp(which, "told") == 0;
  only_seen = strcmp(which, "seen") == 0;
  if (!tells_ucx && !only_seen && strcmp(which, "asked") != 0) {
    fprintf(stderr, "usage: gpu_reuse told|asked|seen [TRUTH-PREFIX]\n");
    return 2;
  }
  truth_prefix = argc > 2 ? argv[2] : NULL;
  run_pair("gpu_reuse", run_side);
  printf("gpu_reuse: everything is right\n");
  return 0;
}
