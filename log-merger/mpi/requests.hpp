// Requests: which call made each, and how the time of a call that waits for several is divided
// among their communicators.
#pragma once

namespace uctrace::merge {

struct Job;

// Gives calls that start, cancel or free requests, or receive a probed message, the communicator of
// their requests, if it is a single one. Finds the calls that made the started requests, and their
// amounts. Before link_mpi().
void name_starts(Job& job);

// The same for calls that wait or test; several communicators go to Job::shares. After link_mpi():
// its operations tell when each request was complete.
void share_waits(Job& job);

}  // namespace uctrace::merge
