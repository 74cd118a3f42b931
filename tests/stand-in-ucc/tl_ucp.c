// The transport layer over UCP of the stand-in for UCC: every member sends what the others need to each of them, as it
// starts; with STAND_IN_UCC_LATE in the environment, when it makes progress.
#include <stdlib.h>
#include <string.h>

#include "parts.h"

static size_t element_bytes(ucc_datatype_t type) {
  return type == UCC_DT_FLOAT64 ? sizeof(double) : type == UCC_DT_INT32 ? sizeof(int32_t) : 1;
}

static uint64_t number_at(const void* numbers, uint32_t i, bool wide) {
  return wide ? ((const uint64_t*)numbers)[i] : ((const uint32_t*)numbers)[i];
}

static bool has(const ucc_coll_task_t* task, uint64_t flag) {
  return (task->args.mask & UCC_COLL_ARGS_FIELD_FLAGS) != 0 && (task->args.flags & flag) != 0;
}

// What member `from` sends to member `to`.
static size_t part_bytes(const ucc_coll_task_t* task, uint32_t from, uint32_t to) {
  const ucc_coll_args_t* const args = &task->args;
  switch (args->coll_type) {
    case UCC_COLL_TYPE_BARRIER: return 1;
    case UCC_COLL_TYPE_BCAST:
      return from == args->root ? args->src.info.count * element_bytes(args->src.info.datatype) : 0;
    case UCC_COLL_TYPE_ALLREDUCE: return args->dst.info.count * element_bytes(args->dst.info.datatype);
    case UCC_COLL_TYPE_ALLTOALL:
      return args->src.info.count * element_bytes(args->src.info.datatype) / task->team->size;
    default:  // allgatherv
      (void)to;
      return number_at(args->dst.info_v.counts, from, has(task, UCC_COLL_ARGS_FLAG_COUNT_64BIT)) *
             element_bytes(args->dst.info_v.datatype);
  }
}

static const char* part(const ucc_coll_task_t* task, uint32_t to) {
  static const char token = 0;
  const ucc_coll_args_t* const args = &task->args;
  if (args->coll_type == UCC_COLL_TYPE_BARRIER) return &token;
  if (args->coll_type == UCC_COLL_TYPE_ALLTOALL) {
    return (const char*)args->src.info.buffer + to * part_bytes(task, task->team->ep, to);
  }
  return has(task, UCC_COLL_ARGS_FLAG_IN_PLACE) ? args->dst.info.buffer : args->src.info.buffer;
}

static ucp_tag_t tag_of(const ucc_team_h team, uint32_t from) {
  return (uint64_t)0xacc << 48 | (uint64_t)(team->number & 0xff) << 40 | (uint64_t)(from & 0xffff) << 24 |
         (team->posted & 0xffffff);
}

static void send_all(ucc_coll_task_t* task) {
  const ucc_team_h team = task->team;
  const ucp_request_param_t params = {0};
  task->has_sent = true;
  for (uint32_t i = 0; i < team->size; ++i) {
    const size_t bytes = part_bytes(task, team->ep, i);
    if (i == team->ep || bytes == 0) continue;
    void* const request = ucp_tag_send_nbx(team->context->endpoints[team->places[i]], part(task, i), bytes,
                                           task->tag, &params);
    if (request != NULL) task->requests[task->request_count++] = request;
  }
}

static ucc_status_t start(ucc_coll_task_t* task) {
  const ucc_team_h team = task->team;
  const ucp_request_param_t params = {0};
  size_t room = 0;
  for (uint32_t i = 0; i < team->size; ++i) room += part_bytes(task, i, team->ep);
  free(task->requests);
  free(task->arrived);
  task->requests = calloc(2 * team->size, sizeof *task->requests);
  task->arrived = malloc(room + 1);
  task->request_count = 0;
  ++team->posted;
  char* place = task->arrived;
  for (uint32_t i = 0; i < team->size; ++i) {
    const size_t bytes = part_bytes(task, i, team->ep);
    if (i == team->ep) {
      memcpy(place, part(task, i), bytes);
    } else if (bytes != 0) {
      task->requests[task->request_count++] =
          ucp_tag_recv_nbx(team->context->worker, place, bytes, tag_of(team, i), UINT64_MAX, &params);
    }
    place += bytes;
  }
  task->tag = tag_of(team, team->ep);
  task->has_sent = false;
  if (getenv("STAND_IN_UCC_LATE") == NULL) send_all(task);
  return UCC_INPROGRESS;
}

static void add_up(ucc_coll_task_t* task) {
  const size_t count = task->args.dst.info.count;
  double* const sum = task->args.dst.info.buffer;
  for (size_t k = 0; k < count; ++k) {
    double total = 0;
    for (uint32_t i = 0; i < task->team->size; ++i) total += ((const double*)task->arrived)[i * count + k];
    sum[k] = total;
  }
}

static void store(ucc_coll_task_t* task) {
  ucc_coll_args_t* const args = &task->args;
  const ucc_team_h team = task->team;
  const char* from = task->arrived;
  if (args->coll_type == UCC_COLL_TYPE_ALLREDUCE) {
    add_up(task);
  } else if (args->coll_type == UCC_COLL_TYPE_BCAST) {
    memcpy(args->src.info.buffer, from, part_bytes(task, (uint32_t)args->root, team->ep));
  } else if (args->coll_type != UCC_COLL_TYPE_BARRIER) {
    for (uint32_t i = 0; i < team->size; ++i) {
      const size_t bytes = part_bytes(task, i, team->ep);
      const uint64_t place =
          args->coll_type == UCC_COLL_TYPE_ALLTOALL
              ? i * bytes
              : number_at(args->dst.info_v.displacements, i, has(task, UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT)) *
                    element_bytes(args->dst.info_v.datatype);
      memcpy((char*)args->dst.info.buffer + place, from, bytes);
      from += bytes;
    }
  }
}

static ucc_status_t progress(ucc_coll_task_t* task) {
  if (!task->has_sent) send_all(task);
  for (uint32_t i = 0; i < task->request_count; ++i) {
    void* const request = task->requests[i];
    if (request == NULL) continue;
    const ucs_status_t status = ucp_request_check_status(request);
    if (status == UCS_INPROGRESS) return UCC_INPROGRESS;
    ucp_request_free(request);
    task->requests[i] = NULL;
    if (status != UCS_OK) return UCC_ERR_NO_MESSAGE;
  }
  store(task);
  return UCC_OK;
}

static ucc_status_t finish(ucc_coll_task_t* task, ucc_coll_task_t** made) {
  task->post = start;
  task->progress = progress;
  *made = task;
  return UCC_OK;
}

// One function for each operation, as in UCC: who asks where a task was made learns the algorithm by its name.
#define DEFINE_OPERATION(name)                                                                                    \
  __attribute__((visibility("default"), noinline)) ucc_status_t ucc_tl_ucp_##name##_linear_init(                  \
      ucc_coll_args_t* args, ucc_team_h team, ucc_coll_task_t** made) {                                           \
    ucc_coll_task_t* const task = malloc(sizeof *task);                                                           \
    const ucc_status_t status = ucc_coll_task_init(task, args, team);                                             \
    return status == UCC_OK ? finish(task, made) : status;                                                        \
  }
DEFINE_OPERATION(allreduce)
DEFINE_OPERATION(bcast)
DEFINE_OPERATION(barrier)
DEFINE_OPERATION(alltoall)
DEFINE_OPERATION(allgatherv)

__attribute__((visibility("default"))) ucc_status_t ucc_tl_ucp_coll_init(ucc_coll_args_t* args, ucc_team_h team,
                                                                         ucc_coll_task_t** made) {
  switch ((int)args->coll_type) {
    case UCC_COLL_TYPE_ALLREDUCE: return ucc_tl_ucp_allreduce_linear_init(args, team, made);
    case UCC_COLL_TYPE_BCAST: return ucc_tl_ucp_bcast_linear_init(args, team, made);
    case UCC_COLL_TYPE_BARRIER: return ucc_tl_ucp_barrier_linear_init(args, team, made);
    case UCC_COLL_TYPE_ALLTOALL: return ucc_tl_ucp_alltoall_linear_init(args, team, made);
    case UCC_COLL_TYPE_ALLGATHERV: return ucc_tl_ucp_allgatherv_linear_init(args, team, made);
    default: return UCC_ERR_NOT_SUPPORTED;
  }
}
