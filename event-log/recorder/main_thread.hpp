// The end of a process whose main thread has left by pthread_exit(). The C library ends it with the
// last thread, by exit() there; it counts the threads that it made, and the recorder's never end
// before the process. So when the main thread leaves, a thread is started that does nothing but
// call exit() in place of the last one of the program's: it shares the program's open files, which
// the others do not, and they would end with the last thread that has them. Private to event-log/.
//
// Where there is no /proc, or the process may have no more threads, it is not noticed.
#pragma once

namespace uctrace::log {

// The log has begun: if the main thread has left before, that is noticed now.
void watch_last_thread();

// For the helper: lets the process end if nobody but the recorder is left in it.
void end_with_last_thread();

}  // namespace uctrace::log
