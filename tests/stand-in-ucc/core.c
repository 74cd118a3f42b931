// A stand-in for libucc.so.1, of the size that tests need: contexts over UCP, teams, and requests. The operations
// themselves are in transport layers, libraries of their own as in UCC: libucc_tl_ucp.so beside this library, and
// libucc_tl_self.so for teams of one. UCC_SUFFIX ends the names of a second copy's files. Not safe with threads, no generic datatypes, no active sets.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

struct ucc_lib_info {
  MakeTask over_ucp, alone;
};

static struct ucc_lib_info library;

static MakeTask layer(const char* name) {
  Dl_info here;
  char path[4096], function[64];
  dladdr((void*)&layer, &here);
  const char* end = strrchr(here.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s/libucc_tl_%s" UCC_SUFFIX ".so", (int)(end - here.dli_fname), here.dli_fname, name);
  snprintf(function, sizeof function, "ucc_tl_%s_coll_init", name);
  void* const opened = dlopen(path, RTLD_NOW);
  if (opened == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  return (MakeTask)dlsym(opened, function);
}

ucc_status_t ucc_lib_config_read(const char* prefix, const char* file, ucc_lib_config_h* config) {
  (void)prefix, (void)file;
  *config = NULL;
  return UCC_OK;
}
void ucc_lib_config_release(ucc_lib_config_h config) { (void)config; }

ucc_status_t ucc_init_version(unsigned major, unsigned minor, const ucc_lib_params_t* params,
                              const ucc_lib_config_h config, ucc_lib_h* made) {
  (void)major, (void)minor, (void)params, (void)config;
  library.over_ucp = layer("ucp");
  library.alone = layer("self");
  *made = &library;
  return library.over_ucp != NULL && library.alone != NULL ? UCC_OK : UCC_ERR_NO_MESSAGE;
}
ucc_status_t ucc_finalize(ucc_lib_h lib) {
  (void)lib;
  return UCC_OK;
}
const char* ucc_get_version_string(void) { return "1.0.0-stand-in"; }
const char* ucc_status_string(ucc_status_t status) { return status == UCC_OK ? "Success" : "Error"; }

ucc_status_t ucc_context_config_read(ucc_lib_h lib, const char* file, ucc_context_config_h* config) {
  (void)lib, (void)file;
  *config = NULL;
  return UCC_OK;
}
void ucc_context_config_release(ucc_context_config_h config) { (void)config; }

static ucc_status_t gather(const ucc_oob_coll_t* oob, void* mine, void* all, size_t bytes) {
  void* request;
  ucc_status_t status = oob->allgather(mine, all, bytes, oob->coll_info, &request);
  while (status == UCC_OK && (status = oob->req_test(request)) == UCC_INPROGRESS) continue;
  return status == UCC_OK ? oob->req_free(request) : status;
}

enum { kMostAddressBytes = 4096 };

static ucc_status_t connect_all(ucc_context_h context) {
  const uint32_t count = context->oob.n_oob_eps;
  ucp_address_t* address;
  size_t bytes;
  if (ucp_worker_get_address(context->worker, &address, &bytes) != UCS_OK) return UCC_ERR_NO_MESSAGE;
  char* const mine = calloc(1, kMostAddressBytes);
  char* const all = calloc(count, kMostAddressBytes);
  context->endpoints = calloc(count, sizeof *context->endpoints);
  if (bytes > kMostAddressBytes) return UCC_ERR_NO_MEMORY;
  memcpy(mine, address, bytes);
  ucp_worker_release_address(context->worker, address);
  ucc_status_t status = gather(&context->oob, mine, all, kMostAddressBytes);
  for (uint32_t i = 0; i < count && status == UCC_OK; ++i) {
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = (ucp_address_t*)(all + (size_t)i * kMostAddressBytes)};
    if (ucp_ep_create(context->worker, &params, &context->endpoints[i]) != UCS_OK) status = UCC_ERR_NO_MESSAGE;
  }
  free(mine);
  free(all);
  return status;
}

ucc_status_t ucc_context_create(ucc_lib_h lib, const ucc_context_params_t* params,
                                const ucc_context_config_h config, ucc_context_h* made) {
  (void)lib, (void)config;
  ucc_context_h context = calloc(1, sizeof *context);
  context->oob = params->oob;
  const ucp_params_t ucp_params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  const ucp_worker_params_t worker_params = {0};
  if (ucp_init(&ucp_params, NULL, &context->ucp) != UCS_OK) return UCC_ERR_NO_MESSAGE;
  if (ucp_worker_create(context->ucp, &worker_params, &context->worker) != UCS_OK) return UCC_ERR_NO_MESSAGE;
  *made = context;
  return connect_all(context);
}

ucc_status_t ucc_context_progress(ucc_context_h context) {
  ucp_worker_progress(context->worker);
  for (ucc_coll_task_t** place = &context->first; *place != NULL;) {
    ucc_coll_task_t* const task = *place;
    const ucc_status_t status = task->progress(task);
    if (status == UCC_INPROGRESS) {
      place = &task->next;
    } else {
      *place = task->next;
      task->super.status = status;
    }
  }
  return UCC_OK;
}

ucc_status_t ucc_context_destroy(ucc_context_h context) {
  for (uint32_t i = 0; i < context->oob.n_oob_eps; ++i) {
    const ucp_request_param_t params = {0};
    void* request = ucp_ep_close_nbx(context->endpoints[i], &params);
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
      ucp_worker_progress(context->worker);
    }
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
  }
  // Nobody leaves while others still close.
  char mine = 0;
  char* const all = calloc(context->oob.n_oob_eps, 1);
  const ucc_status_t status = gather(&context->oob, &mine, all, 1);
  free(all);
  free(context->endpoints);
  ucp_worker_destroy(context->worker);
  ucp_cleanup(context->ucp);
  free(context);
  return status;
}

ucc_status_t ucc_team_create_post(ucc_context_h* contexts, uint32_t count, const ucc_team_params_t* params,
                                  ucc_team_h* made) {
  static uint32_t teams;
  (void)count;
  ucc_team_h team = calloc(1, sizeof *team);
  team->context = contexts[0];
  team->size = params->oob.n_oob_eps;
  team->ep = params->oob.oob_ep;
  team->places = calloc(team->size, sizeof *team->places);
  team->number = ++teams;  // the same everywhere if all make theirs in one order
  uint32_t mine = team->context->oob.oob_ep;
  const ucc_status_t status = gather(&params->oob, &mine, team->places, sizeof mine);
  *made = team;
  return status;
}
ucc_status_t ucc_team_create_test(ucc_team_h team) {
  (void)team;
  return UCC_OK;
}
ucc_status_t ucc_team_get_attr(ucc_team_h team, ucc_team_attr_t* attributes) {
  if (attributes->mask & UCC_TEAM_ATTR_FIELD_EP) attributes->ep = team->ep;
  if (attributes->mask & UCC_TEAM_ATTR_FIELD_SIZE) attributes->size = team->size;
  return UCC_OK;
}
ucc_status_t ucc_team_destroy(ucc_team_h team) {
  free(team->places);
  free(team);
  return UCC_OK;
}

__attribute__((visibility("default"))) ucc_status_t ucc_coll_task_init(ucc_coll_task_t* task, ucc_coll_args_t* args,
                                                                       ucc_team_h team) {
  memset(task, 0, sizeof *task);
  task->super.status = UCC_OPERATION_INITIALIZED;
  memcpy(&task->args, args, offsetof(ucc_coll_args_t, further_fields));
  task->team = team;
  return UCC_OK;
}

ucc_status_t ucc_collective_init(ucc_coll_args_t* args, ucc_coll_req_h* request, ucc_team_h team) {
  ucc_coll_task_t* task = NULL;
  const ucc_status_t status = (team->size == 1 ? library.alone : library.over_ucp)(args, team, &task);
  if (status == UCC_OK) *request = &task->super;
  return status;
}

ucc_status_t ucc_collective_post(ucc_coll_req_h request) {
  ucc_coll_task_t* const task = (ucc_coll_task_t*)request;
  task->super.status = UCC_INPROGRESS;
  const ucc_status_t status = task->post(task);
  if (status != UCC_INPROGRESS) {
    task->super.status = status;
    return status < 0 ? status : UCC_OK;
  }
  ucc_coll_task_t** end = &task->team->context->first;
  while (*end != NULL) end = &(*end)->next;
  task->next = NULL;
  *end = task;
  return UCC_OK;
}

ucc_status_t ucc_collective_finalize(ucc_coll_req_h request) {
  ucc_coll_task_t* const task = (ucc_coll_task_t*)request;
  free(task->requests);
  free(task->arrived);
  free(task);
  return UCC_OK;
}
