// Stands in for the functions of a UCX that has the device API.
#include "kernel_api.h"

#include <stdlib.h>

ucs_status_t uct_ep_get_device_ep(uct_ep_h endpoint, void** device_endpoint) {
  *device_endpoint = (char*)endpoint + 1;
  return UCS_OK;
}

static ucs_status_t create(size_t elements, void** list) {
  if (elements == 0) return UCS_ERR_INVALID_PARAM;
  *list = malloc(1);
  return *list != NULL ? UCS_OK : UCS_ERR_NO_MEMORY;
}

ucs_status_t ucp_device_mem_list_create(ucp_ep_h endpoint,
                                        const struct old_kernel_list_params* params, void** list) {
  (void)endpoint;
  return create(params->num_elements, list);
}

ucs_status_t ucp_device_local_mem_list_create(const struct kernel_list_params* params,
                                              void** list) {
  return create(params->num_elements, list);
}

ucs_status_t ucp_device_remote_mem_list_create(const struct kernel_list_params* params,
                                               void** list) {
  return create(params->num_elements, list);
}

void ucp_device_mem_list_release(void* list) { free(list); }
