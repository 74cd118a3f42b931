// The parts of the memory domain that the component names.
#pragma once

#include <cstdint>

#include "internals.hpp"

namespace scripted {

uct_md* domain_of(uct_component* component);
ucs_status_t unpack_key(uct_component* component, const void* buffer, uct_rkey_t* key,
                        void** handle);
ucs_status_t release_key(uct_component* component, uct_rkey_t key, void* handle);

}  // namespace scripted
