// A message of a run in memory, as it is told.
#pragma once

#include "log-merger/reports/messages_output.hpp"

namespace uctrace {

inline MessageWithPath message_at(const Run& run, MessageId id) {
  const Message& message = run.messages.at(id);
  return {id, message, path_of(run, message)};
}

}  // namespace uctrace
