// Where each thread of an unfinished job sits: in an MPI call, between calls, or in a loop of calls
// that test.
//
// Logs of a job that runs are read one after the other. What is said of them together is said of
// one instant that all of them know: the oldest of their newest ones. A call that began later is
// not settled; the others were all open at that instant. A process that does not run any more, but
// is not known to be gone, says nothing newer: it is left out, and counts as one that acts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Of the whole job.
// unseen: no rank is known to run, and some can neither be seen from here nor were heard of lately.
enum class HangState : std::uint8_t { running, unseen, killed, aborted, finished };
bool may_run(HangState);
const char* name_of(HangState);
HangState state_of(const Job& job);

struct Sitter {
  ProcessIndex process;
  std::uint16_t lane = 0;
  CallIndex call;              // it has not returned; kNone: the thread is in none
  CallIndex last;              // the newest that has; kNone: there is none, or it is not known
  std::int64_t since_ns = -1;  // since when it is in the call, in none, or tests
  bool settled = false;        // it was there at HangInstants::common_ns already
  // In a row it called functions that only test: so often, and the newest of them. 0: it does not.
  std::uint64_t polls = 0;
  CallIndex polled;
};

struct HangInstants {
  // Until then the logs of all processes that are neither gone nor silent tell all; -1: no log
  // does.
  std::int64_t common_ns = -1;
};

// Of processes with a rank. Where all threads that called MPI have ended, the one that was in a
// call last stands for the process; where none called, a sitter without calls does.
struct Sitters {
  std::vector<Sitter> all;  // by process
  HangInstants instants;
  ByIndex<ProcessLog, bool> gone;    // it ended, or died well before the others did
  ByIndex<ProcessLog, bool> silent;  // it is not gone, and its log says nothing new: it is stopped
  // By process: the places of its sitters.
  struct Places {
    std::size_t begin = 0, end = 0;
  };
  ByIndex<ProcessLog, Places> of;
};

Sitters find_sitters(const Job& job);

// Whether it has a rank in MPI_COMM_WORLD.
bool is_rank(const Job& job, ProcessIndex process);

// Whether the thread that uses it has not ended.
bool lane_lives(const ProcessLog& log, std::size_t lane);

// Nobody writes newer instants into the log of a process without a helper.
bool has_newest_instant(const ProcessLog& log);

// The words of `processes[].exit`.
const std::string& exit_of(const Job& job, ProcessIndex process);

// MPI_Test, MPI_Iprobe and their like.
bool only_tests(const std::string& function);

}  // namespace uctrace::merge
