/* The part of HSA's interface that the virtual GPUs have (../../README.md). Written for them;
 * names, numbers and layouts are those of ROCm's HSA runtime. */
#ifndef UCTRACE_VIRTUAL_HSA_H
#define UCTRACE_VIRTUAL_HSA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef UCTRACE_ONLY_FUNCTIONS /* compare_headers.py declares the functions twice */

#define HSA_API

typedef enum {
  HSA_STATUS_SUCCESS = 0x0,
  HSA_STATUS_INFO_BREAK = 0x1,
  HSA_STATUS_ERROR = 0x1000,
  HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
  HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
  HSA_STATUS_ERROR_INVALID_AGENT = 0x1004,
  HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006,
  HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
  HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B
} hsa_status_t;

typedef enum {
  HSA_SYSTEM_INFO_VERSION_MAJOR = 0,
  HSA_SYSTEM_INFO_VERSION_MINOR = 1
} hsa_system_info_t;

typedef struct hsa_agent_s {
  uint64_t handle;
} hsa_agent_t;

typedef enum { HSA_DEVICE_TYPE_CPU = 0, HSA_DEVICE_TYPE_GPU = 1 } hsa_device_type_t;

typedef enum { HSA_AGENT_INFO_NAME = 0, HSA_AGENT_INFO_DEVICE = 17 } hsa_agent_info_t;

typedef enum { HSA_ACCESS_PERMISSION_RW = 3 } hsa_access_permission_t;

typedef struct hsa_signal_s {
  uint64_t handle;
} hsa_signal_t;

typedef int64_t hsa_signal_value_t;

typedef enum {
  HSA_SIGNAL_CONDITION_EQ = 0,
  HSA_SIGNAL_CONDITION_NE = 1,
  HSA_SIGNAL_CONDITION_LT = 2,
  HSA_SIGNAL_CONDITION_GTE = 3
} hsa_signal_condition_t;

typedef enum { HSA_WAIT_STATE_BLOCKED = 0, HSA_WAIT_STATE_ACTIVE = 1 } hsa_wait_state_t;

#endif /* UCTRACE_ONLY_FUNCTIONS */

hsa_status_t HSA_API hsa_init(void);
hsa_status_t HSA_API hsa_shut_down(void);
hsa_status_t HSA_API hsa_system_get_info(hsa_system_info_t attribute, void* value);
hsa_status_t HSA_API hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t agent, void* data),
                                        void* data);
hsa_status_t HSA_API hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value);
hsa_status_t HSA_API hsa_memory_copy(void* dst, const void* src, size_t size);

hsa_status_t HSA_API hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
                                       const hsa_agent_t* consumers, hsa_signal_t* signal);
hsa_status_t HSA_API hsa_signal_destroy(hsa_signal_t signal);
hsa_signal_value_t HSA_API hsa_signal_load_scacquire(hsa_signal_t signal);
void HSA_API hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value);
hsa_signal_value_t HSA_API hsa_signal_wait_scacquire(hsa_signal_t signal,
                                                     hsa_signal_condition_t condition,
                                                     hsa_signal_value_t compare_value,
                                                     uint64_t timeout_hint,
                                                     hsa_wait_state_t wait_state_hint);

#ifdef __cplusplus
}
#endif

#endif
