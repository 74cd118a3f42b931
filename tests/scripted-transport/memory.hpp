// What the components need of the memory domains.
#pragma once

#include <cstdint>

#include "internals.hpp"

namespace scripted {

// Of host memory, and of the memory of a device that does not exist.
uct_md_ops* host_domain_operations();
uct_md_ops* device_domain_operations();
ucs_status_t unpack_key(uct_component* component, const void* buffer, uct_rkey_t* key,
                        void** handle);
// As UCX 1.23 asks for it.
ucs_status_t unpack_key(uct_component* component, const void* buffer, const void* params,
                        uct_rkey_t* key, void** handle);
ucs_status_t release_key(uct_component* component, uct_rkey_t key, void* handle);

}  // namespace scripted
