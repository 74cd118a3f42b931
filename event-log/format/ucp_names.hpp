// The names of the functions of UCP, and of those of memory: the merger shows them, and the shims
// match them with the hooks that the user leaves out.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

// In the order of UcpFunction.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(UcpFunction::kCount)>
    kUcpFunctionNames = {"none",
#define UCTRACE_NAME(function, family) "ucp_" #function,
                         UCTRACE_UCP_FUNCTIONS(UCTRACE_NAME)
#undef UCTRACE_NAME
};

// In the order of MemoryFunction.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(MemoryFunction::kCount)>
    kMemoryFunctionNames = {"none",
#define UCTRACE_NAME(function, action) #function,
                            UCTRACE_MEMORY_FUNCTIONS(UCTRACE_NAME)
#undef UCTRACE_NAME
};

}  // namespace uctrace::log
