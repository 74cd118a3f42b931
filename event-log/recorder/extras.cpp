#include "event-log/recorder/extras.hpp"

namespace uctrace::log {

namespace detail {
constinit std::uint8_t wanted_extras = 0;
}  // namespace detail

void want(std::uint8_t extras) {
  __atomic_fetch_or(&detail::wanted_extras, extras, __ATOMIC_RELEASE);
}

}  // namespace uctrace::log
