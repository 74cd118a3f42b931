// The name of the job that this process belongs to, which all its processes find without speaking
// to each other. Reads the environment and /proc; allocates nothing.
#pragma once

#include <cstddef>

namespace uctrace::log {

// What the launcher that started this process calls the job; empty if no launcher is known. Worlds
// that a job spawns carry its name where Open MPI started them.
void write_launch_name(char* out, std::size_t size);

// The key in the log: UCTRACE_JOB, which `uctrace record` in front of a launcher sets, and behind a
// "." the launcher's name: a recorded script may start several. With `record` behind the launcher,
// its name alone.
void write_job_key(char* out, std::size_t size);

}  // namespace uctrace::log
