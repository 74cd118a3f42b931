// What a room knows about the process only as long as a library stays loaded, or the process lives:
// it looks at the last moment, and says in the log what it sees.
#pragma once

namespace uctrace::log {

// `look` is called before a library may be unloaded and before the log is closed, on any thread, in
// processes that are recorded. It may open the log. Not in a fork child: a question to the loader
// may never be answered there, as its lock stays held if another thread of the parent had it at the
// fork. One a room; set it in a constructor.
void add_last_look(void (*look)());
void take_last_looks();

}  // namespace uctrace::log
