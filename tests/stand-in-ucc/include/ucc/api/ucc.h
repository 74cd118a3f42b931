// The part of UCC's interface that the tests use, as every release from 1.0 on has it: names, values and layouts
// are UCC's. tests/integration/test_ucc.py compares it with the real header where one is installed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UCC_BIT(i) (UINT64_C(1) << (i))
enum { UCC_API_MAJOR = 1, UCC_API_MINOR = 0 };

typedef enum {
  UCC_OK = 0,
  UCC_INPROGRESS = 1,
  UCC_OPERATION_INITIALIZED = 2,
  UCC_ERR_NOT_SUPPORTED = -1,
  UCC_ERR_INVALID_PARAM = -3,
  UCC_ERR_NO_MEMORY = -4,
  UCC_ERR_NO_MESSAGE = -6,
} ucc_status_t;

typedef struct ucc_lib_info* ucc_lib_h;
typedef struct ucc_lib_config* ucc_lib_config_h;
typedef struct ucc_context* ucc_context_h;
typedef struct ucc_context_config* ucc_context_config_h;
typedef struct ucc_team* ucc_team_h;
typedef struct ucc_coll_req {
  ucc_status_t status;
} ucc_coll_req_t;
typedef ucc_coll_req_t* ucc_coll_req_h;

typedef enum {
  UCC_COLL_TYPE_ALLGATHER = 1 << 0,
  UCC_COLL_TYPE_ALLGATHERV = 1 << 1,
  UCC_COLL_TYPE_ALLREDUCE = 1 << 2,
  UCC_COLL_TYPE_ALLTOALL = 1 << 3,
  UCC_COLL_TYPE_ALLTOALLV = 1 << 4,
  UCC_COLL_TYPE_BARRIER = 1 << 5,
  UCC_COLL_TYPE_BCAST = 1 << 6,
  UCC_COLL_TYPE_FANIN = 1 << 7,
  UCC_COLL_TYPE_FANOUT = 1 << 8,
  UCC_COLL_TYPE_GATHER = 1 << 9,
  UCC_COLL_TYPE_GATHERV = 1 << 10,
  UCC_COLL_TYPE_REDUCE = 1 << 11,
  UCC_COLL_TYPE_REDUCE_SCATTER = 1 << 12,
  UCC_COLL_TYPE_REDUCE_SCATTERV = 1 << 13,
  UCC_COLL_TYPE_SCATTER = 1 << 14,
  UCC_COLL_TYPE_SCATTERV = 1 << 15,
} ucc_coll_type_t;

typedef enum { UCC_MEMORY_TYPE_HOST, UCC_MEMORY_TYPE_CUDA } ucc_memory_type_t;
typedef uint64_t ucc_count_t;
typedef uint64_t ucc_aint_t;
typedef uint64_t ucc_datatype_t;
typedef uint16_t ucc_coll_id_t;
#define UCC_PREDEFINED_DT(id) ((ucc_datatype_t)(id) << 3)
#define UCC_DT_INT8 UCC_PREDEFINED_DT(0)
#define UCC_DT_INT32 UCC_PREDEFINED_DT(2)
#define UCC_DT_FLOAT64 UCC_PREDEFINED_DT(12)

typedef enum { UCC_OP_SUM } ucc_reduction_op_t;
typedef enum { UCC_ERR_TYPE_LOCAL, UCC_ERR_TYPE_GLOBAL } ucc_error_type_t;
typedef enum { UCC_THREAD_SINGLE, UCC_THREAD_FUNNELED, UCC_THREAD_MULTIPLE } ucc_thread_mode_t;
typedef enum { UCC_NO_SYNC_COLLECTIVES, UCC_SYNC_COLLECTIVES } ucc_coll_sync_type_t;
typedef enum { UCC_CONTEXT_EXCLUSIVE, UCC_CONTEXT_SHARED } ucc_context_type_t;
typedef enum {
  UCC_COLLECTIVE_POST_ORDERED,
  UCC_COLLECTIVE_POST_UNORDERED,
} ucc_post_ordering_t;
typedef enum { UCC_COLLECTIVE_EP_RANGE_CONTIG, UCC_COLLECTIVE_EP_RANGE_NONCONTIG } ucc_ep_range_type_t;

enum {
  UCC_LIB_PARAM_FIELD_THREAD_MODE = 1 << 0,
  UCC_CONTEXT_PARAM_FIELD_OOB = 1 << 2,
  UCC_TEAM_PARAM_FIELD_EP = 1 << 2,
  UCC_TEAM_PARAM_FIELD_EP_RANGE = 1 << 4,
  UCC_TEAM_PARAM_FIELD_TEAM_SIZE = 1 << 5,
  UCC_TEAM_PARAM_FIELD_OOB = 1 << 7,
  UCC_TEAM_ATTR_FIELD_EP = 1 << 2,
  UCC_TEAM_ATTR_FIELD_SIZE = 1 << 6,
  UCC_COLL_ARGS_FLAG_IN_PLACE = 1 << 0,
  UCC_COLL_ARGS_FLAG_PERSISTENT = 1 << 1,
  UCC_COLL_ARGS_FLAG_COUNT_64BIT = 1 << 2,
  UCC_COLL_ARGS_FLAG_DISPLACEMENTS_64BIT = 1 << 3,
  UCC_COLL_ARGS_FIELD_FLAGS = 1 << 0,
};

typedef struct ucc_lib_params {
  uint64_t mask;
  ucc_thread_mode_t thread_mode;
  uint64_t coll_types;
  uint64_t reduction_types;
  ucc_coll_sync_type_t sync_type;
} ucc_lib_params_t;

typedef struct ucc_oob_coll {
  ucc_status_t (*allgather)(void* mine, void* all, size_t bytes, void* info, void** request);
  ucc_status_t (*req_test)(void* request);
  ucc_status_t (*req_free)(void* request);
  void* coll_info;
  uint32_t n_oob_eps;
  uint32_t oob_ep;
} ucc_oob_coll_t;

typedef struct ucc_mem_map_params {
  void* segments;
  uint64_t n_segments;
} ucc_mem_map_params_t;

typedef struct ucc_context_params {
  uint64_t mask;
  ucc_context_type_t type;
  ucc_coll_sync_type_t sync_type;
  ucc_oob_coll_t oob;
  uint64_t ctx_id;
  ucc_mem_map_params_t mem_params;
} ucc_context_params_t;

// What follows `oob` is not used here. The room behind it is more than any release has.
typedef struct ucc_team_params {
  uint64_t mask;
  uint64_t flags;
  ucc_post_ordering_t ordering;
  uint64_t outstanding_colls;
  uint64_t ep;
  uint64_t* ep_list;
  ucc_ep_range_type_t ep_range;
  uint64_t team_size;
  ucc_coll_sync_type_t sync_type;
  ucc_oob_coll_t oob;
  char further_fields[512];
} ucc_team_params_t;

typedef struct ucc_team_attr {
  uint64_t mask;
  ucc_post_ordering_t ordering;
  uint64_t outstanding_colls;
  uint64_t ep;
  ucc_ep_range_type_t ep_range;
  ucc_coll_sync_type_t sync_type;
  ucc_mem_map_params_t mem_params;
  uint32_t size;
  uint64_t* eps;
} ucc_team_attr_t;

typedef struct ucc_coll_buffer_info_v {
  void* buffer;
  ucc_count_t* counts;
  ucc_aint_t* displacements;
  ucc_datatype_t datatype;
  ucc_memory_type_t mem_type;
} ucc_coll_buffer_info_v_t;

typedef struct ucc_coll_buffer_info {
  void* buffer;
  ucc_count_t count;
  ucc_datatype_t datatype;
  ucc_memory_type_t mem_type;
} ucc_coll_buffer_info_t;

typedef struct ucc_coll_callback {
  void (*cb)(void* data, ucc_status_t status);
  void* data;
} ucc_coll_callback_t;

typedef struct ucc_coll_args {
  uint64_t mask;
  ucc_coll_type_t coll_type;
  union {
    ucc_coll_buffer_info_t info;
    ucc_coll_buffer_info_v_t info_v;
  } src;
  union {
    ucc_coll_buffer_info_t info;
    ucc_coll_buffer_info_v_t info_v;
  } dst;
  ucc_reduction_op_t op;
  uint64_t flags;
  uint64_t root;
  ucc_error_type_t error_type;
  ucc_coll_id_t tag;
  void* global_work_buffer;
  ucc_coll_callback_t cb;
  double timeout;
  struct {
    uint64_t start;
    int64_t stride;
    uint64_t size;
  } active_set;
  char further_fields[64];
} ucc_coll_args_t;

ucc_status_t ucc_lib_config_read(const char* prefix, const char* file, ucc_lib_config_h* config);
void ucc_lib_config_release(ucc_lib_config_h config);
ucc_status_t ucc_init_version(unsigned major, unsigned minor, const ucc_lib_params_t* params,
                              const ucc_lib_config_h config, ucc_lib_h* library);
static inline ucc_status_t ucc_init(const ucc_lib_params_t* params, const ucc_lib_config_h config,
                                    ucc_lib_h* library) {
  return ucc_init_version(UCC_API_MAJOR, UCC_API_MINOR, params, config, library);
}
ucc_status_t ucc_finalize(ucc_lib_h library);
const char* ucc_get_version_string(void);
const char* ucc_status_string(ucc_status_t status);

ucc_status_t ucc_context_config_read(ucc_lib_h library, const char* file, ucc_context_config_h* config);
void ucc_context_config_release(ucc_context_config_h config);
ucc_status_t ucc_context_create(ucc_lib_h library, const ucc_context_params_t* params,
                                const ucc_context_config_h config, ucc_context_h* context);
ucc_status_t ucc_context_progress(ucc_context_h context);
ucc_status_t ucc_context_destroy(ucc_context_h context);

ucc_status_t ucc_team_create_post(ucc_context_h* contexts, uint32_t count,
                                  const ucc_team_params_t* params, ucc_team_h* team);
ucc_status_t ucc_team_create_test(ucc_team_h team);
ucc_status_t ucc_team_destroy(ucc_team_h team);
ucc_status_t ucc_team_get_attr(ucc_team_h team, ucc_team_attr_t* attributes);

ucc_status_t ucc_collective_init(ucc_coll_args_t* args, ucc_coll_req_h* request, ucc_team_h team);
ucc_status_t ucc_collective_post(ucc_coll_req_h request);
static inline ucc_status_t ucc_collective_test(ucc_coll_req_h request) { return request->status; }
ucc_status_t ucc_collective_finalize(ucc_coll_req_h request);
