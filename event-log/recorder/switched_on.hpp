// Switches in the user's environment.
#pragma once

#include <stdlib.h>
#include <string.h>

namespace uctrace::log {

// Whether the variable is set to anything but 0.
inline bool is_switched_on(const char* variable) {
  const char* value = getenv(variable);
  return value != nullptr && value[0] != '\0' && strcmp(value, "0") != 0;
}

}  // namespace uctrace::log
