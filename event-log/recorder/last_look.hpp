// Some facts can be seen only while a library stays loaded or the process lives: a room looks at
// the last moment, and records what it sees.
#pragma once

#include <cstdint>

namespace uctrace::log {

enum class Moment : std::uint8_t { before_unload, end };

// `look` is called before a library may be unloaded and before the log is closed, on any thread, in
// recorded processes. It may open the log. It is not called in a fork child: a question to the
// loader may hang there, because the loader's lock stays held if another thread of the parent held
// it at the fork. One per room; set it in a constructor.
using LastLook = void (*)(Moment);
void add_last_look(LastLook look);
void take_last_looks(Moment moment);

}  // namespace uctrace::log
