#include "uct-shim/context.hpp"

namespace uctrace::uct {

thread_local constinit ThreadState thread_state{};

}  // namespace uctrace::uct
