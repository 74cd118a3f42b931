// Uses UCP through a handle of its library, as bindings of other languages do: no call passes
// through a preloaded library.
//
//     ucp_by_handle LIBUCP

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#define FUNCTIONS(X)                                                                            \
  X(ucp_init_version)                                                                           \
  X(ucp_cleanup) X(ucp_worker_create) X(ucp_worker_destroy) X(ucp_worker_get_address)           \
      X(ucp_worker_release_address) X(ucp_worker_progress) X(ucp_ep_create) X(ucp_ep_close_nbx) \
          X(ucp_tag_send_nbx) X(ucp_tag_recv_nbx) X(ucp_request_check_status) X(ucp_request_free)
#define DECLARE(name) static __typeof__(name)* by_handle_##name;
FUNCTIONS(DECLARE)

#define ucp_init_version by_handle_ucp_init_version
#define ucp_cleanup by_handle_ucp_cleanup
#define ucp_worker_create by_handle_ucp_worker_create
#define ucp_worker_destroy by_handle_ucp_worker_destroy
#define ucp_worker_get_address by_handle_ucp_worker_get_address
#define ucp_worker_release_address by_handle_ucp_worker_release_address
#define ucp_worker_progress by_handle_ucp_worker_progress
#define ucp_ep_create by_handle_ucp_ep_create
#define ucp_ep_close_nbx by_handle_ucp_ep_close_nbx
#define ucp_tag_send_nbx by_handle_ucp_tag_send_nbx
#define ucp_tag_recv_nbx by_handle_ucp_tag_recv_nbx
#define ucp_request_check_status by_handle_ucp_request_check_status
#define ucp_request_free by_handle_ucp_request_free
#include "ucp_self.h"

static void* function_of(void* library, const char* name) {
  void* function = library != NULL ? dlsym(library, name) : NULL;
  if (function == NULL) fprintf(stderr, "ucp_by_handle: %s\n", dlerror());
  check(function != NULL, name);
  return function;
}

int main(int count, char** arguments) {
  check(count == 2, "giving the path of one libucp");
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
#define LOOK_UP(name) by_handle_##name = (__typeof__(by_handle_##name))function_of(library, #name);
#undef ucp_init_version
#undef ucp_cleanup
#undef ucp_worker_create
#undef ucp_worker_destroy
#undef ucp_worker_get_address
#undef ucp_worker_release_address
#undef ucp_worker_progress
#undef ucp_ep_create
#undef ucp_ep_close_nbx
#undef ucp_tag_send_nbx
#undef ucp_tag_recv_nbx
#undef ucp_request_check_status
#undef ucp_request_free
  FUNCTIONS(LOOK_UP)
  printf("ucp_by_handle: %d messages were sent\n", exchange_with_self());
  return 0;
}
