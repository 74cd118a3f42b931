// Two processes without any MPI that send each other memory of all kinds that ROCm and Level Zero
// have, over a UCX that knows neither: it treats all of it as host memory. Contents are checked.
// Each process uses a GPU of its own, and writes what each message lay in, one JSON object a line.
//
//     gpu_vendors rocm|level_zero|all [TRUTH-PREFIX]

#include "ucp_truth.h"
#include "vendor_memory.h"

static const size_t kSizes[] = {4000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kBytes = 300000 };

static const char* which;
static struct side* this_side;

static void exchange(void* handle, size_t bytes) {
  write_all(this_side->channel, handle, bytes);
  read_all(this_side->channel, handle, bytes);
}

static void tell(const struct vendor* vendor, const struct vendor_kind* kind, const char* function,
                 ucp_tag_t tag, size_t bytes) {
  char host[64] = "", gpu[kVendorNameBytes] = "";
  if (truth_file == NULL) return;
  gethostname(host, sizeof host - 1);
  vendor->name_gpu(gpu);
  fprintf(truth_file,
          "{\"pid\":%d,\"function\":\"%s\",\"tag\":%llu,\"vendor\":\"%s\",\"kind\":\"%s\","
          "\"bytes\":%zu,\"memory\":\"%s\",\"gpu\":",
          (int)getpid(), function, (unsigned long long)tag, vendor->name, kind->row, bytes,
          kind->memory);
  if (strcmp(kind->memory, "host") == 0) {
    fprintf(truth_file, "null}\n");
  } else {
    fprintf(truth_file, "\"%s/%s\"}\n", host, gpu);
  }
}

// The tags of a message and of the one that comes back differ in their first bit.
static void exchange_message(const struct vendor* vendor, const struct vendor_kind* kind,
                             void* memory, void* other, size_t bytes, ucp_tag_t tag) {
  const ucp_request_param_t defaults = {0};
  const ucp_tag_t mine = tag | (ucp_tag_t)this_side->number << 63;
  const ucp_tag_t theirs = tag | (ucp_tag_t)!this_side->number << 63;
  unsigned char* contents = make_buffer(bytes);
  fill(contents, bytes, mine);
  vendor->copy(memory, contents, bytes);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(this_side->worker, other, bytes, theirs, UINT64_MAX, &defaults);
  finish(this_side, ucp_tag_send_nbx(this_side->to_other, memory, bytes, mine, &defaults),
         "ucp_tag_send_nbx");
  finish(this_side, receive, "ucp_tag_recv_nbx");
  vendor->copy(contents, other, bytes);
  check(holds(contents, bytes, theirs), "comparing contents");
  free(contents);
  tell(vendor, kind, "ucp_tag_send_nbx", mine, bytes);
  tell(vendor, kind, "ucp_tag_recv_nbx", theirs, bytes);
}

static void exchange_kinds(const struct vendor* vendor, ucp_tag_t number) {
  for (const struct vendor_kind* kind = vendor->kinds; kind->name != NULL; ++kind) {
    void* memory = vendor->allocate(kind->name, kBytes, exchange);
    void* other = vendor->allocate(kind->name, kBytes, exchange);
    for (int size = 0; size < kSizeCount; ++size) {
      const ucp_tag_t tag = number << 16 | (ucp_tag_t)(kind - vendor->kinds) << 8 | (ucp_tag_t)size;
      exchange_message(vendor, kind, memory, other, kSizes[size], tag);
    }
    meet(this_side);
  }
}

static int wants(const struct vendor* vendor) {
  return strcmp(which, "all") == 0 || strcmp(which, vendor->name) == 0;
}

static void run_side(struct side* side) {
  this_side = side;
  open_truth();
  for (int i = 0; i < kVendorCount; ++i) {
    if (wants(&kVendors[i])) kVendors[i].open(side->number);
  }
  open_side(side, UCP_FEATURE_TAG);
  for (int i = 0; i < kVendorCount; ++i) {
    if (wants(&kVendors[i])) exchange_kinds(&kVendors[i], (ucp_tag_t)i + 1);
  }
  meet(side);
  close_side(side);
  if (truth_file != NULL) fclose(truth_file);
}

int main(int argc, char** argv) {
  which = argc > 1 ? argv[1] : "";
  truth_prefix = argc > 2 ? argv[2] : NULL;
  int known = 0;
  for (int i = 0; i < kVendorCount; ++i) known += wants(&kVendors[i]);
  if (known == 0) {
    fprintf(stderr, "usage: gpu_vendors rocm|level_zero|all [TRUTH-PREFIX]\n");
    return 2;
  }
  run_pair("gpu_vendors", run_side);
  printf("gpu_vendors: everything is right\n");
  return 0;
}
