// What is known of the process that writes a log. For offline code.
#pragma once

#include <cstdint>

#include "event-log/format/file_layout.hpp"
#include "event-log/reader/liveness.hpp"

namespace uctrace::log {

// closed: its last word stands in the page that was read. dead: it does not, and the process was
// gone before the page was read, so that nothing can be added. running: it was there then, or was
// heard of not long before. unseen: it cannot be seen from here.
enum class WriterState : std::uint8_t { closed, running, dead, unseen };

// What can be seen now of the process that `page` names. Reads /proc.
Sight sight_of_writer(const ProcessPage& page);

// What that and its signs of life say: never `closed`.
WriterState look_for_writer(const ProcessPage& page);

// Whether both pages are of one process.
bool same_writer(const ProcessPage& a, const ProcessPage& b);

}  // namespace uctrace::log
