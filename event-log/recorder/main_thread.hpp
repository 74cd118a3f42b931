// The end of a process whose main thread has left by pthread_exit(). The C library then calls
// exit() on the last thread to end. It counts all threads that it made, and the recorder's never
// end before the process. So when the main thread leaves, the recorder starts a thread that only
// calls exit() in place of the program's last thread. That thread shares the program's open files:
// the recorder's others do not, and the files would be closed with the last thread that has them.
// Private to event-log/.
//
// Not noticed if there is no /proc, or the process can have no more threads.
#pragma once

namespace uctrace::log {

// Call it when the log has begun: if the main thread has already left, this notices.
void watch_last_thread();

// For the helper: ends the process if only the recorder's threads are left.
void end_with_last_thread();

}  // namespace uctrace::log
