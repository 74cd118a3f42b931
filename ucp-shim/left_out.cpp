#include "ucp-shim/left_out.hpp"

#include "event-log/format/ucp_names.hpp"
#include "interpose/leave_out.hpp"

namespace uctrace::ucp {

constinit std::uint64_t left_out_functions[kFunctionWords]{};
constinit bool any_left_out = false;

void find_left_out_functions() {
  for (std::size_t i = 0; i < log::kUcpFunctionNames.size(); ++i) {
    const std::string_view name = log::kUcpFunctionNames[i];
    if (interpose::left_out(name.data(), name.size())) {
      left_out_functions[i / 64] |= std::uint64_t{1} << i % 64;
      any_left_out = true;
    }
  }
}

}  // namespace uctrace::ucp
