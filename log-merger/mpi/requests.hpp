// Requests: which call made each, and how the time of a call that waits for several is divided
// among their communicators.
#pragma once

namespace uctrace::merge {

struct Job;

// Gives calls that start, cancel or free requests, or receive a probed message, the communicator of
// what they are given, if that is one; tells which calls made what is started, and how much that
// is. Before link_mpi().
void name_starts(Job& job);

// The same for calls that wait or test; else Job::shares. After link_mpi(), whose operations tell
// when each request was complete.
void share_waits(Job& job);

}  // namespace uctrace::merge
