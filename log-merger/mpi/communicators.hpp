// The communicators of a job: each process has a handle of its own for what is one communicator.
//
// No call makes them known to each other, so they are joined afterwards: those that a call on one
// parent made are the same where the parent is the same, the how-manieth call on it, and the rank 0
// of what it made. Those that only their members make (MPI_Comm_create_group) are told by who the
// members are. Two sides of an intercommunicator that two worlds made of each other (spawn, accept
// and connect, join) are one if sizes and times leave only one possibility; else each stays alone.
//
// Names are spelled as mpisee's: the letter of what made it, the world rank of its rank 0, and the
// how-manieth it was that this process got: W0.0, s0.1, s512.1.
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

struct Job;
struct ProcessLog;

// By MPI_Comm_spawn: it has a parent.
bool was_spawned(const ProcessLog& log);
// Fills ProcessLog::world. Worlds are numbered from 0, those that were spawned after the others.
void find_worlds(Job& job);

// Fills Job::comms and the results of every Comm; after all logs were loaded.
void join_communicators(Job& job);

// Names of joined communicators; a part of it.
void name_communicators(Job& job);

// World rank, in its own world, of who is addressed as `rank` in a communicator of a process: of
// the remote group in an intercommunicator. Nothing where that is not known.
std::optional<std::int32_t> addressed_rank(const Job& job, ProcessIndex process, CommIndex comm,
                                           std::int32_t rank);

}  // namespace uctrace::merge
