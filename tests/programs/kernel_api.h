// The host's half of UCX's device API, as UCX 1.21 to 1.23 declare it and older headers do not. A
// library that stands in for these functions is enough to see what is recorded of their calls.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

struct kernel_element {
  uint64_t field_mask;
  ucp_mem_h memh;
  void* local_addr;
  size_t length;
  uint64_t remote_addr;
  ucp_rkey_h rkey;
  ucp_ep_h ep;
};
enum { kHasLocal = 4, kHasRemote = 8, kHasLength = 16, kHasEndpoint = 32 };

struct kernel_list_params {
  uint64_t field_mask;
  size_t element_size, num_elements;
  ucp_worker_h worker;
  const struct kernel_element* elements;
};
enum { kHasElements = 1, kHasElementSize = 2, kHasCount = 4, kHasWorker = 8 };

// UCX 1.20: without a worker.
struct old_kernel_list_params {
  uint64_t field_mask;
  size_t element_size, num_elements;
  const void* elements;
};

ucs_status_t uct_ep_get_device_ep(uct_ep_h endpoint, void** device_endpoint);
ucs_status_t ucp_device_mem_list_create(ucp_ep_h endpoint,
                                        const struct old_kernel_list_params* params, void** list);
ucs_status_t ucp_device_local_mem_list_create(const struct kernel_list_params* params, void** list);
ucs_status_t ucp_device_remote_mem_list_create(const struct kernel_list_params* params,
                                               void** list);
void ucp_device_mem_list_release(void* list);
