// Opens libucp by path at run time, as plug-ins and language bindings do, and exchanges tag messages
// with itself through functions looked up by name. Several libraries are used in turns.
//
//     opened_ucp SCOPE LIBRARY [SCOPE LIBRARY ...]
//
// SCOPE: local or deepbind: a private one, in which names are asked through the library's handle;
// global: that of the program, as if it were linked with it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { kRounds = 3, kMaxLibraries = 4 };
static const size_t kSizes[] = {0, 8, 4000, 100000, 1048576};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };

struct ucx {
#define FUNCTION(name) __typeof__(&ucp_##name) name
  FUNCTION(init_version);
  FUNCTION(cleanup);
  FUNCTION(config_read);
  FUNCTION(config_release);
  FUNCTION(get_version);
  FUNCTION(worker_create);
  FUNCTION(worker_destroy);
  FUNCTION(worker_progress);
  FUNCTION(worker_get_address);
  FUNCTION(worker_release_address);
  FUNCTION(ep_create);
  FUNCTION(ep_close_nbx);
  FUNCTION(tag_send_nbx);
  FUNCTION(tag_recv_nbx);
  FUNCTION(request_check_status);
  FUNCTION(request_free);
#undef FUNCTION
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h endpoint;
};

static void check(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "opened_ucp: failed: %s\n", what);
  exit(1);
}

static void* open_library(const char* scope, const char* path) {
  const int is_global = strcmp(scope, "global") == 0;
  const int deepbind = strcmp(scope, "deepbind") == 0 ? RTLD_DEEPBIND : 0;
  void* library = dlopen(path, RTLD_NOW | deepbind | (is_global ? RTLD_GLOBAL : RTLD_LOCAL));
  check(library != NULL, library != NULL ? "" : dlerror());
  return is_global ? RTLD_DEFAULT : library;
}

static void find_functions(struct ucx* ucx, void* library) {
#define FIND(name) check((*(void**)&ucx->name = dlsym(library, "ucp_" #name)) != NULL, #name)
  FIND(init_version);
  FIND(cleanup);
  FIND(config_read);
  FIND(config_release);
  FIND(get_version);
  FIND(worker_create);
  FIND(worker_destroy);
  FIND(worker_progress);
  FIND(worker_get_address);
  FIND(worker_release_address);
  FIND(ep_create);
  FIND(ep_close_nbx);
  FIND(tag_send_nbx);
  FIND(tag_recv_nbx);
  FIND(request_check_status);
  FIND(request_free);
#undef FIND
}

static void finish(struct ucx* ucx, ucs_status_ptr_t request) {
  check(!UCS_PTR_IS_ERR(request), "starting an operation");
  if (request == NULL) return;
  while (ucx->request_check_status(request) == UCS_INPROGRESS) ucx->worker_progress(ucx->worker);
  check(ucx->request_check_status(request) == UCS_OK, "an operation");
  ucx->request_free(request);
}

static void start(struct ucx* ucx) {
  ucp_config_t* config;
  check(ucx->config_read(NULL, NULL, &config) == UCS_OK, "ucp_config_read");
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  check(ucx->init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx->context) == UCS_OK,
        "ucp_init");
  ucx->config_release(config);
  const ucp_worker_params_t worker = {.field_mask = 0};
  check(ucx->worker_create(ucx->context, &worker, &ucx->worker) == UCS_OK, "ucp_worker_create");
  ucp_address_t* address;
  size_t length;
  check(ucx->worker_get_address(ucx->worker, &address, &length) == UCS_OK, "the worker's address");
  const ucp_ep_params_t endpoint = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = address};
  check(ucx->ep_create(ucx->worker, &endpoint, &ucx->endpoint) == UCS_OK, "ucp_ep_create");
  ucx->worker_release_address(ucx->worker, address);
}

static void exchange(struct ucx* ucx, ucp_tag_t tag, size_t bytes) {
  const ucp_request_param_t defaults = {.op_attr_mask = 0};
  unsigned char *sent = malloc(bytes + 1), *got = calloc(1, bytes + 1);
  for (size_t i = 0; i < bytes; ++i) sent[i] = (unsigned char)(tag * 31 + i * 7);
  ucs_status_ptr_t receive =
      ucx->tag_recv_nbx(ucx->worker, got, bytes, tag, UINT64_MAX, &defaults);
  finish(ucx, ucx->tag_send_nbx(ucx->endpoint, sent, bytes, tag, &defaults));
  finish(ucx, receive);
  check(memcmp(sent, got, bytes) == 0, "comparing contents");
  free(sent);
  free(got);
}

static void end(struct ucx* ucx) {
  const ucp_request_param_t defaults = {.op_attr_mask = 0};
  finish(ucx, ucx->ep_close_nbx(ucx->endpoint, &defaults));
  ucx->worker_destroy(ucx->worker);
  ucx->cleanup(ucx->context);
}

int main(int argc, char** argv) {
  static struct ucx all[kMaxLibraries];
  const int count = (argc - 1) / 2;
  check(count > 0 && count <= kMaxLibraries && argc % 2 == 1, "reading the arguments");
  for (int i = 0; i < count; ++i) {
    find_functions(&all[i], open_library(argv[1 + 2 * i], argv[2 + 2 * i]));
    start(&all[i]);
  }
  for (int n = 0; n < kRounds * kSizeCount; ++n) {
    for (int i = 0; i < count; ++i) {
      exchange(&all[i], (ucp_tag_t)(i + 1) << 32 | (ucp_tag_t)n, kSizes[n % kSizeCount]);
    }
  }
  for (int i = 0; i < count; ++i) {
    unsigned major, minor, release;
    all[i].get_version(&major, &minor, &release);
    end(&all[i]);
    printf("%d messages over UCX %u.%u.%u\n", kRounds * kSizeCount, major, minor, release);
  }
  return 0;
}
