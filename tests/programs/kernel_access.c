// Prepares endpoints and memory for GPU kernels that do not exist: every function of the device API's
// host half, with elements as newer and older versions of UCX have them. Prints what it gave, a line
// each: function, local address, remote address, bytes, whether it was released.
//
//     kernel_access

#include "kernel_api.h"
#include "uct_sides.h"

enum { kElements = 3, kOldElementBytes = 48 };

static unsigned char memory[kElements][1000];

static struct kernel_element element(int i, ucp_ep_h endpoint) {
  return (struct kernel_element){
      .field_mask = kHasLocal | kHasRemote | kHasLength | (endpoint != NULL ? kHasEndpoint : 0),
      .local_addr = memory[i],
      .length = 100 + (size_t)i,
      .remote_addr = 0x10000 + 0x1000 * (uint64_t)i,
      .ep = endpoint};
}

static void say(const char* function, const struct kernel_element* given, int released) {
  printf("%s %llu %llu %zu %d\n", function, (unsigned long long)(uintptr_t)given->local_addr,
         (unsigned long long)given->remote_addr, given->length, released);
}

static void give_lists(void) {
  struct kernel_element elements[kElements];
  for (int i = 0; i < kElements; ++i) elements[i] = element(i, NULL);
  struct kernel_list_params params = {
      .field_mask = kHasElements | kHasElementSize | kHasCount | kHasWorker,
      .element_size = sizeof *elements,
      .num_elements = kElements,
      .elements = elements};
  void *remote, *local, *old, *none;
  check_ucs(ucp_device_remote_mem_list_create(&params, &remote), "remote list");
  for (int i = 0; i < kElements; ++i) {
    say("ucp_device_remote_mem_list_create", &elements[i], 1);
  }
  params.num_elements = 1;
  elements[0].field_mask = kHasLocal | kHasLength;
  check_ucs(ucp_device_local_mem_list_create(&params, &local), "local list");
  elements[0].remote_addr = 0;
  say("ucp_device_local_mem_list_create", &elements[0], 0);
  // An element of UCX 1.20 ends before the endpoint.
  unsigned char short_element[kOldElementBytes];
  const struct kernel_element second = element(1, NULL);
  memcpy(short_element, &second, sizeof short_element);
  const struct old_kernel_list_params old_params = {
      .field_mask = kHasElements | kHasElementSize | kHasCount,
      .element_size = sizeof short_element,
      .num_elements = 1,
      .elements = short_element};
  check_ucs(ucp_device_mem_list_create(NULL, &old_params, &old), "list of UCX 1.20");
  say("ucp_device_mem_list_create", &second, 1);
  params.num_elements = 0;
  check(ucp_device_remote_mem_list_create(&params, &none) != UCS_OK, "an empty list");
  ucp_device_mem_list_release(remote);
  ucp_device_mem_list_release(old);
}

int main(void) {
  program = "kernel_access";
  ucs_async_context_t* async;
  struct pair pair;
  void* given;
  scripted_transport_mark("kernels");
  check_ucs(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async), "async");
  open_pair(&pair, async, "scripted", "mlx5_1:1", (uct_iface_params_t){.field_mask = 0});
  check_ucs(uct_ep_get_device_ep(pair.near.endpoint, &given), "uct_ep_get_device_ep");
  say("uct_ep_get_device_ep", &(struct kernel_element){.length = 0}, 0);
  progress_pair(&pair);
  give_lists();
  close_pair(&pair);
  ucs_async_context_destroy(async);
  return 0;
}
