// Which UCX a caller uses, and whether it may be hooked.
#pragma once

#include <cstdint>
#include <optional>

#include "ucx-facts/releases.hpp"

namespace uctrace::uct {

struct UcxVersion {
  unsigned major, minor, patch;
};

// As its libucp says; nothing: there is none to ask.
std::optional<UcxVersion> ucx_version(const void* caller);

// Its row in ucx-facts; nullptr: no libucp, or one that is not known.
const ucx::Release* ucx_release(const void* caller);

// True if this UCX may be hooked at all: a tested version, or none to ask (UCT alone). Decided once
// for each UCX, and told in the log: a fault of another version, which switches UCT and UCP off
// unless another UCX is recorded.
bool ucx_supported(const void* caller);

// Its number in this process, by which the log tells of it; kUnnumbered: beyond those that are
// kept, or no libucp. Of a UCX that ucx_supported() was asked about.
constexpr std::uint16_t kUnnumbered = 16;
std::uint16_t ucx_number(const void* caller);

}  // namespace uctrace::uct
