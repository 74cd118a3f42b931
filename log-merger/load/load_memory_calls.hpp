// Loads registration calls from the records of a log.
#pragma once

#include <cstdint>

#include "event-log/reader/reader.hpp"
#include "log-merger/job/memory_calls.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::merge {

void add_memory_call(MemoryCalls& to, std::uint16_t lane, const log::MemoryCallView& view);
void name_memory_domain(MemoryCalls& to, const log::TextView& text, Texts& texts);

}  // namespace uctrace::merge
