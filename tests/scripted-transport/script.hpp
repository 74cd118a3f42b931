// The outcome of each call according to the script (scripted.h).
#pragma once

#include <ucs/type/status.h>

#include <cstdint>

namespace scripted {

enum class Operation : std::uint8_t {
#define OPERATION(name) name,
#include "operations.def"
#undef OPERATION
  kCount
};

const char* name_of(Operation operation);

struct Verdict {
  ucs_status_t status = UCS_OK;  // of the operation; NO_RESOURCE: of the call
  unsigned progress = 0;         // 0: at once; otherwise in the N-th progress from now
  bool on_thread = false;        // its completion is called by another thread
  bool fails_endpoint = false;
};

// The verdict on the next call of `operation`, which it counts.
Verdict judge(Operation operation);

}  // namespace scripted
