// A plug-in that uses UCC alone: one collective operation in a team of one. With each copy of UCC there is one such
// plug-in, and both may be in a process, in scopes of their own (ucc_copies.c).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <ucc/api/ucc.h>

static ucc_status_t gather(void* mine, void* all, size_t bytes, void* info, void** request) {
  (void)info;
  memcpy(all, mine, bytes);
  *request = all;
  return UCC_OK;
}
static ucc_status_t gathered(void* request) {
  (void)request;
  return UCC_OK;
}

// "": all went well; else what went wrong. `path` becomes that of the UCC that made the library's handle, which lies in
// its own memory.
__attribute__((visibility("default"))) const char* use_ucc(const char** path) {
  const ucc_oob_coll_t alone = {gather, gathered, gathered, NULL, 1, 0};
  ucc_lib_h library;
  ucc_lib_params_t lib_params = {.mask = 0};
  if (ucc_init(&lib_params, NULL, &library) != UCC_OK) return "ucc_init";
  Dl_info of_handle;
  if (dladdr(library, &of_handle) == 0) return "the handle of no library";
  *path = of_handle.dli_fname;
  ucc_context_params_t context_params = {.mask = UCC_CONTEXT_PARAM_FIELD_OOB, .oob = alone};
  ucc_context_h context;
  if (ucc_context_create(library, &context_params, NULL, &context) != UCC_OK) return "ucc_context_create";
  ucc_team_params_t team_params = {.mask = UCC_TEAM_PARAM_FIELD_OOB, .oob = alone};
  ucc_team_h team;
  if (ucc_team_create_post(&context, 1, &team_params, &team) != UCC_OK) return "ucc_team_create_post";
  double mine = 2, sum = 0;
  ucc_coll_args_t args = {.coll_type = UCC_COLL_TYPE_ALLREDUCE, .op = UCC_OP_SUM};
  args.src.info = (ucc_coll_buffer_info_t){&mine, 1, UCC_DT_FLOAT64, UCC_MEMORY_TYPE_HOST};
  args.dst.info = (ucc_coll_buffer_info_t){&sum, 1, UCC_DT_FLOAT64, UCC_MEMORY_TYPE_HOST};
  ucc_coll_req_h request;
  if (ucc_collective_init(&args, &request, team) != UCC_OK) return "ucc_collective_init";
  if (ucc_collective_post(request) != UCC_OK || sum != 2) return "ucc_collective_post";
  if (ucc_collective_finalize(request) != UCC_OK) return "ucc_collective_finalize";
  if (ucc_team_destroy(team) != UCC_OK || ucc_context_destroy(context) != UCC_OK) return "the end";
  ucc_finalize(library);
  return "";
}
