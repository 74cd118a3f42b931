// Maps an errno to a cause of drops. Private to event-log/ and the words for it.
#pragma once

#include <cerrno>

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

constexpr DropCause cause_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return DropCause::no_room;
    case EFBIG:
      return DropCause::file_too_large;
    case ENOMEM:
      return DropCause::no_memory;
    case EPERM:
    case ENOSYS:
      return DropCause::refused;
    case EACCES:
    case EROFS:
      return DropCause::not_writable;
    case ENOENT:
    case ESTALE:
      return DropCause::removed;
    case ETIMEDOUT:
    case ETIME:
      return DropCause::no_answer;
    case EAGAIN:
      return DropCause::no_thread;
    default:
      return DropCause::storage_failed;
  }
}

}  // namespace uctrace::log
