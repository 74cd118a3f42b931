#include "ucp-shim/called_as.hpp"

namespace uctrace::ucp {

thread_local constinit log::UcpFunction called_as = log::UcpFunction::none;

}  // namespace uctrace::ucp
