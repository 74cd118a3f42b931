// Whether UCP is calling UCT.
#pragma once

#include <cstdint>

#include "event-log/format/kinds.hpp"

namespace uctrace::uct {

// True if the object that holds `caller` is a libucp: one that defines UCP's functions itself.
// About 20 us: for slow paths.
bool is_libucp(const void* caller);

// Records, once per wanted layer, that this library is used without passing the shims, or may be.
enum class Bypass : std::uint8_t { certain, unclear };
void report_bypassed(log::Layer layer, log::FaultCode code, Bypass how, const char* path);

}  // namespace uctrace::uct
