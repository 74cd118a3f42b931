// Preloaded behind the profiler: a UCX whose operation tables hold a function of no loaded module,
// as a build with another layout would seem to. It works: the function jumps to the real one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <uct/api/uct.h>

static void* thunk_to(void* target) {
  unsigned char* code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return target;
  const uint64_t address = (uint64_t)(uintptr_t)target;
  memcpy(code, "\x48\xb8", 2);  // movabs rax, address; jmp rax
  memcpy(code + 2, &address, sizeof address);
  memcpy(code + 10, "\xff\xe0", 2);
  return code;
}

ucs_status_t uct_iface_open(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                            const uct_iface_config_t* config, uct_iface_h* iface) {
  ucs_status_t (*next)(uct_md_h, uct_worker_h, const uct_iface_params_t*,
                       const uct_iface_config_t*, uct_iface_h*) =
      dlsym(RTLD_NEXT, "uct_iface_open");
  const ucs_status_t status = next(md, worker, params, config, iface);
  if (status == UCS_OK && (params->open_mode & UCT_IFACE_OPEN_MODE_DEVICE)) {
    (*iface)->ops.ep_pending_add = thunk_to((*iface)->ops.ep_pending_add);
  }
  return status;
}
