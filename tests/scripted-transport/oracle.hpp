// The calls that the transport itself saw: the truth that a recording is compared with. Written at
// the end of the process to $SCRIPTED_TRANSPORT_ORACLE.<pid>.jsonl, one JSON object a line.
#pragma once

#include <ucs/type/status.h>

#include <cstddef>
#include <cstdint>

namespace scripted::oracle {

inline constexpr std::size_t kNoRow = SIZE_MAX;

struct Row {
  const char* what = "";       // an operation's name, or what happened
  const char* transport = "";  // of the interface it happened on
  const char* device = "";
  const void* endpoint = nullptr;
  ucs_status_t status = UCS_OK;  // of the call
  std::uint64_t bytes = 0, remote = 0;
  int id = -1;           // of an active message
  bool tracked = false;  // its caller gave a completion
};

// Adds a row and gives its number.
std::size_t note(const Row& row);

// The operation of the row ended with `status` after it was in progress.
void note_completion(std::size_t row, ucs_status_t status, bool on_thread);

}  // namespace scripted::oracle
