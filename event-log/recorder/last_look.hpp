// What a room knows about the process only as long as a library stays loaded, or the process lives:
// it looks at the last moment, and says in the log what it sees.
#pragma once

namespace uctrace::log {

// `look` is called before a library may be unloaded and before the log is closed, on any thread. It
// may open the log. There is one; set it in a constructor.
void set_last_look(void (*look)());
void take_last_look();

}  // namespace uctrace::log
