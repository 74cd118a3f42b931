// Which UCX a caller uses, and whether it may be hooked.
#pragma once

#include <optional>

namespace uctrace::uct {

struct UcxVersion {
  unsigned major, minor, patch;
};

// As its libucp says; nothing: there is none to ask. About 1 us.
std::optional<UcxVersion> ucx_version(const void* caller);

// True if this process's UCX may be hooked at all: a tested version, or none to ask (UCT alone).
// Decided once; records a fault and switches UCT and UCP off otherwise.
bool ucx_supported(const void* caller);

}  // namespace uctrace::uct
