// Joins the communicators of a job: each process has its own handle for the same communicator.
//
// The processes exchange nothing about them, so they are joined afterwards. Communicators made by a
// call on a parent are the same if the parent, the ordinal of the call on it, and rank 0 of the
// result are the same. Those made only by their members (MPI_Comm_create_group) are identified by
// the members. The two sides of an intercommunicator between two worlds (spawn, accept and connect,
// join) are joined if sizes and times leave only one possibility; otherwise each stays alone.
//
// Names are spelled as in mpisee: the letter of the function that made it, the world rank of its
// rank 0, and the ordinal in that process: W0.0, s0.1, s512.1.
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

struct Job;
struct ProcessLog;

// By MPI_Comm_spawn: it has a parent.
bool was_spawned(const ProcessLog& log);
// Fills ProcessLog::world. Worlds are numbered from 0, spawned ones last.
void find_worlds(Job& job);

// Fills Job::comms and the results of every Comm; after all logs were loaded.
void join_communicators(Job& job);

// Names of joined communicators; a part of it.
void name_communicators(Job& job);

// The world rank, in its own world, of the process addressed as `rank` in a communicator of a
// process: in an intercommunicator, of the remote group. Nothing if not known.
std::optional<std::int32_t> addressed_rank(const Job& job, ProcessIndex process, CommIndex comm,
                                           std::int32_t rank);

}  // namespace uctrace::merge
