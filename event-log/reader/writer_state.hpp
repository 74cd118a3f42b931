// The state of the process that writes a log. For offline code.
#pragma once

#include <cstdint>

#include "event-log/format/file_layout.hpp"
#include "event-log/reader/liveness.hpp"

namespace uctrace::log {

// closed: the page that was read says so. dead: it does not, and the process was gone before the
// page was read, so nothing can follow. running: it existed then, or gave a sign of life shortly
// before. unseen: it cannot be seen from here.
enum class WriterState : std::uint8_t { closed, running, dead, unseen };

// Whether the process that `page` names can be seen now. Reads /proc.
Sight sight_of_writer(const ProcessPage& page);

// The state by that and its signs of life: never `closed`.
WriterState look_for_writer(const ProcessPage& page);

// Whether both pages are of the same process.
bool same_writer(const ProcessPage& a, const ProcessPage& b);

}  // namespace uctrace::log
