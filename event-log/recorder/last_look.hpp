// What a room knows about the process only as long as a library stays loaded, or the process lives:
// it looks at the last moment, and says in the log what it sees.
#pragma once

#include <cstdint>

namespace uctrace::log {

enum class Moment : std::uint8_t { before_unload, end };

// `look` is called before a library may be unloaded and before the log is closed, on any thread, in
// processes that are recorded. It may open the log. Not in a fork child: a question to the loader
// may never be answered there, as its lock stays held if another thread of the parent had it at the
// fork. One a room; set it in a constructor.
using LastLook = void (*)(Moment);
void add_last_look(LastLook look);
void take_last_looks(Moment moment);

}  // namespace uctrace::log
