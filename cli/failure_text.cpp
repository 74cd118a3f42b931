#include "cli/failure_text.hpp"

#include <fmt/format.h>

#include <iostream>
#include <new>

#include "event-log/reader/error.hpp"
#include "log-merger/spill/merge_memory.hpp"
#include "log-merger/spill/spill.hpp"

namespace uctrace::cli {

std::string failure_text(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return error->message();
  if (dynamic_cast<const spill::NoRoom*>(&failure) != nullptr) return spill::no_room().message();
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return "out of memory: the run does not fit; use a machine with more memory.";
  }
  return fmt::format("unexpected failure: {}; please report it.", failure.what());
}

void tell_failure(const std::exception& failure) {
  std::cerr << "uctrace: " + failure_text(failure) + '\n';
}

void warn(const std::string& what, const std::string& why) {
  std::cerr << "uctrace: warning: " + what + ": " + why + '\n';
}

}  // namespace uctrace::cli
