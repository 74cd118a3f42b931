// The calls of libraries above UCX in a log, and the names of these.
#pragma once

#include <cstdint>

#include "event-log/reader/views.hpp"
#include "log-merger/job/library_calls.hpp"
#include "log-merger/load/caller_stacks.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::merge {

void add_library_call(LibraryCalls& to, std::uint16_t lane, const log::LibraryCallView& view,
                      CallerStacks& callers);

// A text of kind library or library_function.
void name_library(LibraryCalls& in, const log::TextView& text, Texts& texts);

}  // namespace uctrace::merge
