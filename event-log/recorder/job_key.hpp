// The name of the job that this process belongs to; all processes find it without communication.
// Reads the environment and /proc; allocates nothing.
#pragma once

#include <cstddef>

namespace uctrace::log {

// The launcher's name for the job; empty if no launcher is known. Spawned worlds have the name of
// their job if Open MPI started them.
void write_launch_name(char* out, std::size_t size);

// The key in the log. With `uctrace record` before a launcher: UCTRACE_JOB, which `record` sets,
// then "." and the launcher's name, because a recorded script may start several jobs. With `record`
// after the launcher: only the launcher's name.
void write_job_key(char* out, std::size_t size);

}  // namespace uctrace::log
