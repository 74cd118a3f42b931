// Two processes without any MPI that send memory of the host, over a UCX without CUDA, while a GPU
// driver is absent, is loaded but never initialised, is loaded late, or is unloaded by the program.
// The upper half of a tag is the phase of the run.
//
//     gpu_none none|loaded|late|returned [LIBRARY INITIALISE]
//
// LIBRARY and its function INITIALISE: of CUDA, or as they are named.

#include <dlfcn.h>

#include "ucp_pair.h"

enum { kBefore = 1, kBetween, kUnnoticed, kNoticed, kBytes = 20000, kMessages = 5 };

static const char *when, *library = "libcuda.so.1", *initialise_name = "cuInit";

static int is(const char* name) { return strcmp(when, name) == 0; }

static void* load_driver(void) {
  void* driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  check(driver != NULL, "loading the driver");
  return driver;
}

static void* start_driver(void) {
  void* driver = load_driver();
  int (*initialise)(unsigned) = (int (*)(unsigned))dlsym(driver, initialise_name);
  check(initialise != NULL && initialise(0) == 0, initialise_name);
  return driver;
}

static void exchange(struct side* side, ucp_tag_t phase) {
  const ucp_request_param_t defaults = {0};
  unsigned char *sent = make_buffer(kBytes), *got = make_buffer(kBytes);
  for (ucp_tag_t i = 0; i < kMessages; ++i) {
    const ucp_tag_t tag = phase << 32 | i;
    memset(sent, (int)(phase * 16 + i), kBytes);
    ucs_status_ptr_t receive =
        ucp_tag_recv_nbx(side->worker, got, kBytes, tag, UINT64_MAX, &defaults);
    finish(side, ucp_tag_send_nbx(side->to_other, sent, kBytes, tag, &defaults),
           "ucp_tag_send_nbx");
    finish(side, receive, "ucp_tag_recv_nbx");
    check(memcmp(sent, got, kBytes) == 0, "comparing contents");
  }
  free(sent);
  free(got);
}

static void run_side(struct side* side) {
  void* driver = NULL;
  if (is("loaded")) load_driver();
  if (is("returned")) driver = start_driver();
  open_side(side, UCP_FEATURE_TAG);
  if (driver != NULL) check(dlclose(driver) == 0, "dlclose");
  exchange(side, kBefore);
  if (is("late")) {
    ucp_ep_h looked = connect_to_other(side);  // uctrace looks for drivers here
    exchange(side, kBetween);
    start_driver();
    exchange(side, kUnnoticed);
    ucp_ep_h found = connect_to_other(side);
    exchange(side, kNoticed);
    close_endpoint(side, looked);
    close_endpoint(side, found);
  }
  meet(side);
  close_side(side);
}

int main(int argc, char** argv) {
  when = argc > 1 ? argv[1] : "";
  if (!is("none") && !is("loaded") && !is("late") && !is("returned")) {
    fprintf(stderr, "usage: gpu_none none|loaded|late|returned [LIBRARY INITIALISE]\n");
    return 2;
  }
  if (argc > 3) {
    library = argv[2];
    initialise_name = argv[3];
  }
  run_pair("gpu_none", run_side);
  printf("gpu_none: everything is right\n");
  return 0;
}
