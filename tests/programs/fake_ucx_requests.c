// Preloaded behind the profiler: a UCX whose requests have a size that no real build has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ucp/api/ucp.h>

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attributes) {
  ucs_status_t (*original)(ucp_context_h, ucp_context_attr_t*);
  *(void**)&original = dlsym(RTLD_NEXT, "ucp_context_query");
  const ucs_status_t status = original(context, attributes);
  if (attributes->field_mask & UCP_ATTR_FIELD_REQUEST_SIZE) attributes->request_size = 4096;
  return status;
}
