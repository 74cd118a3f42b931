// Which UCX a caller uses, and whether it may be hooked.
#pragma once

#include <cstdint>
#include <optional>

#include "ucx-facts/releases.hpp"

namespace uctrace::uct {

struct UcxVersion {
  unsigned major, minor, patch;
};

// The version that its libucp reports; nothing: there is no libucp.
std::optional<UcxVersion> ucx_version(const void* caller);

// Its row in ucx-facts; nullptr: no libucp, or an unknown version.
const ucx::Release* ucx_release(const void* caller);

// True if this UCX may be hooked: a tested version, or no libucp to ask (UCT alone). Decided once
// for each UCX and recorded. Any other version is a fault, which switches UCT and UCP off unless
// another UCX is recorded.
bool ucx_supported(const void* caller);

// Its number in this process and its log, after a call of ucx_supported(); kUnnumbered: too many
// UCXs, or no libucp.
constexpr std::uint16_t kUnnumbered = 16;
std::uint16_t ucx_number(const void* caller);

}  // namespace uctrace::uct
