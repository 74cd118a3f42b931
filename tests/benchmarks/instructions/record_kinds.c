// Makes records of each kind, each in its own function, whose instructions callgrind counts
// (count_instructions.py).
//
// usage: record_kinds OPERATIONS MORE
// Each batch makes OPERATIONS + MORE operations. MORE is 0, except to show that the count goes up.
// With RECORD_KINDS_GPU in the environment the buffers are untouched GPU memory, which a history
// reports to uctrace, so it asks no driver.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "device-attributor/history.h"
#include "fake_stack.h"

// Several repetitions; the minimum counts: in some of them a lane takes a fresh chunk of the log.
enum { kRepetitions = 8, kArrivesUnheeded = UCT_AM_ID_MAX - 1 };

static long operations;
enum { kBufferBytes = 64 };
static char host_buffer[kBufferBytes];
static char* buffer = host_buffer;
static int mpi_request;

static size_t pack(void* room, void* argument) {
  *(uint64_t*)room = *(const uint64_t*)argument;
  return 16;
}

// As MPICH's fetch_and_op: a long, then a header of 88 bytes, of which a digest is recorded.
enum { kActiveMessage = 23, kActiveHeader = 88 };
static size_t pack_active(void* room, void* argument) {
  (void)argument;
  *(uint64_t*)room = (uint64_t)kActiveHeader << 32;
  return 8 + 8 + kActiveHeader;
}

static void on_zcopy(uct_completion_t* completion) { completion->count = 1; }
static uct_completion_t zcopy_end = {.func = on_zcopy, .count = 1};
static uct_iov_t payload = {.buffer = host_buffer, .length = kBufferBytes, .count = 1};
static uint64_t header[2];

static void on_send(void* request, ucs_status_t status, void* user_data) {
  (void)request, (void)status, (void)user_data;
}
static void on_receive(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                       void* user_data) {
  (void)request, (void)status, (void)info, (void)user_data;
}
static const ucp_request_param_t send_param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                               .cb.send = on_send};
static const ucp_request_param_t receive_param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                                  .cb.recv = on_receive};

// Found by name, so neither inlined nor copied.
#define BATCH(name) __attribute__((noinline, noclone)) void batch_##name(void)
#define REPEAT for (long i = 0; i < operations; ++i)

void batch_uct_short(void), batch_uct_put_short(void), batch_uct_bcopy(void), batch_uct_zcopy(void),
    batch_uct_active(void), batch_uct_arrival(void), batch_ucp_send(void),
    batch_ucp_send_pending(void), batch_ucp_receive(void), batch_mpi_call(void),
    batch_mpi_message(void), batch_mpi_exchange(void), batch_self_exchange(void);

BATCH(uct_short) { REPEAT uct_ep_am_short(&fake_uct_endpoint, 0, 1, buffer, 8); }
BATCH(uct_put_short) { REPEAT uct_ep_put_short(&fake_uct_endpoint, buffer, 8, 4096, 0); }
BATCH(uct_bcopy) { REPEAT uct_ep_am_bcopy(&fake_uct_endpoint, 0, pack, header, 0); }
BATCH(uct_zcopy) {
  REPEAT {
    uct_ep_am_zcopy(&fake_uct_endpoint, 0, header, sizeof header, &payload, 1, 0, &zcopy_end);
    fake_uct_complete();
  }
}
BATCH(uct_active) {
  REPEAT uct_ep_am_bcopy(&fake_uct_endpoint, kActiveMessage, pack_active, NULL, 0);
}
BATCH(uct_arrival) { REPEAT fake_uct_arrive(kArrivesUnheeded, header, sizeof header); }
BATCH(ucp_send) { REPEAT ucp_tag_send_nbx(NULL, buffer, 8, 1, &send_param); }
BATCH(ucp_send_pending) {
  REPEAT {
    ucp_tag_send_nbx(NULL, buffer, 8, 1, &send_param);
    fake_ucp_complete();
  }
}
BATCH(ucp_receive) {
  REPEAT {
    ucp_tag_recv_nbx(NULL, buffer, 8, 1, 0, &receive_param);
    fake_ucp_complete();
  }
}
BATCH(mpi_call) { REPEAT MPI_Wait(&mpi_request, NULL); }
BATCH(mpi_message) { REPEAT MPI_Send(buffer, 8, kFakeChar, 0, 1, kFakeWorld); }
BATCH(mpi_exchange) {
  REPEAT MPI_Sendrecv(buffer, 8, kFakeChar, 0, 1, buffer, 8, kFakeChar, 0, 1, kFakeWorld, NULL);
}
BATCH(self_exchange) {
  REPEAT {
    MPI_Irecv(buffer, 8, kFakeChar, 0, 1, kFakeWorld, &mpi_request);
    MPI_Send(buffer, 8, kFakeChar, 0, 1, kFakeWorld);
    MPI_Wait(&mpi_request, NULL);
  }
}

static const struct {
  struct FakeStack stack;
  void (*run)(void);
} kBatches[] = {
    {{false, false, false}, batch_uct_short},   {{false, false, false}, batch_uct_put_short},
    {{false, false, false}, batch_uct_bcopy},   {{false, false, false}, batch_uct_zcopy},
    {{false, false, false}, batch_uct_active},  {{false, false, false}, batch_uct_arrival},
    {{false, false, false}, batch_ucp_send},    {{false, false, true}, batch_ucp_send_pending},
    {{false, false, false}, batch_ucp_receive}, {{false, false, false}, batch_mpi_call},
    {{false, false, false}, batch_mpi_message}, {{false, false, false}, batch_mpi_exchange},
    {{true, true, false}, batch_self_exchange}};

// Without recording there is no receiver.
static void tell(struct uctrace_device_event event) {
  void (*listen)(const struct uctrace_device_event*) =
      (void (*)(const struct uctrace_device_event*))dlsym(RTLD_DEFAULT, "uctrace_device_event");
  event.version = UCTRACE_DEVICE_EVENT_VERSION;
  if (listen != NULL) listen(&event);
}

static void tell_history(void) {
  tell((struct uctrace_device_event){.type = UCTRACE_HISTORY_BEGINS, .text = "record_kinds"});
  tell((struct uctrace_device_event){.type = UCTRACE_MEMORY_ALLOCATED,
                                     .begin = (uint64_t)(uintptr_t)buffer,
                                     .bytes = kBufferBytes,
                                     .kind = UCTRACE_MEMORY_DEVICE,
                                     .vendor = UCTRACE_VENDOR_CUDA});
}

// A job without GPUs does not need the driver, so it is not linked.
static void use_gpu(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  unsigned long long address = 0;
  void* context;
  if (driver == NULL || ((int (*)(unsigned))dlsym(driver, "cuInit"))(0) != 0 ||
      ((int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0) != 0 ||
      ((int (*)(void*))dlsym(driver, "cuCtxSetCurrent"))(context) != 0 ||
      ((int (*)(unsigned long long*, size_t))dlsym(driver, "cuMemAlloc_v2"))(&address,
                                                                             kBufferBytes) != 0) {
    fprintf(stderr, "record_kinds: there is no GPU\n");
    exit(1);
  }
  buffer = payload.buffer = (char*)(uintptr_t)address;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: record_kinds OPERATIONS MORE\n");
    return 2;
  }
  operations = atol(argv[1]) + atol(argv[2]);
  const int on_gpu = getenv("RECORD_KINDS_GPU") != NULL;
  if (on_gpu) use_gpu();
  if (on_gpu) tell_history();
  MPI_Init(&argc, &argv);
  for (size_t i = 0; i < sizeof kBatches / sizeof kBatches[0]; ++i) {
    fake_stack = kBatches[i].stack;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) kBatches[i].run();
  }
  return MPI_Finalize();
}
