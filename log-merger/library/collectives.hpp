// Collective operations of UCC: which call began what others start and end, which UCP operations
// were for them, and which of UCC's layers made them (docs/libraries.md). Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Sets LibraryCall::ucc and begun_by. The calls are sorted. A request's handle comes again once it
// is ended, so calls are not tied over a stretch whose calls may be missing.
void find_beginnings(const Job& job, ProcessLog& log);

// Progress is made in calls that are not recorded. An operation that is posted there by a worker of
// UCC's own, while one collective operation alone is in progress in the process, is inferred to be
// for that one: for the call that started it. Nothing is inferred while a team is being made, which
// UCC does with operations of its own, nor in a log that lacks events.
void infer_collectives(Job& job, ProcessLog& log);

// Sets the texts of calls that begin one, after the stacks were resolved: what it is; the layers of
// UCC whose code made its tasks, each once ("tl_ucp", "cl_hier, tl_shm"); and the algorithm, as the
// names of functions there have it ("knomial"). kNoText: not known.
void name_collectives(Job& job);

}  // namespace uctrace::merge
