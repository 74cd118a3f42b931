// Where each thread of an unfinished job sits: in an MPI call, between calls, or in a loop of calls
// that test.
//
// Logs of a running job are read one after the other. Statements about all of them are about one
// instant that all of them cover: the oldest of their newest instants. A call that began later is
// not settled; all others were open at that instant. A process that no longer runs, but is not
// known to be gone, would hold the instant back: it is left out and counts as one that acts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Of the whole job.
// unseen: no rank is known to run, and some cannot be seen from here and gave no recent sign of
// life.
enum class HangState : std::uint8_t { running, unseen, killed, aborted, finished };
bool may_run(HangState);
const char* name_of(HangState);
HangState state_of(const Job& job);

struct Sitter {
  ProcessIndex process;
  std::uint16_t lane = 0;
  CallIndex call;              // an open call; kNone: the thread is in none
  CallIndex last;              // the newest that returned; kNone: there is none, or it is not known
  std::int64_t since_ns = -1;  // since when it is in the call, outside calls, or testing
  bool settled = false;        // it was already there at HangInstants::common_ns
  // How many test calls it made in a row, and the newest of them. 0: it does not test.
  std::uint64_t polls = 0;
  CallIndex polled;
};

struct HangInstants {
  // Until then the logs of all processes that are neither gone nor silent are complete; -1: no log
  // is.
  std::int64_t common_ns = -1;
};

// For processes with a rank. If all threads that called MPI have ended, the last one in a call
// represents the process; if none called MPI, a sitter without calls does.
struct Sitters {
  std::vector<Sitter> all;  // by process
  HangInstants instants;
  ByIndex<ProcessLog, bool> gone;    // it ended, or died well before the others did
  ByIndex<ProcessLog, bool> silent;  // not gone, but its log gets nothing new: it is stopped
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

// Without a helper nobody writes newer instants into a process's log.
bool has_newest_instant(const ProcessLog& log);

// The words of `processes[].exit`.
const std::string& exit_of(const Job& job, ProcessIndex process);

// MPI_Test, MPI_Iprobe and their like.
bool only_tests(const std::string& function);

}  // namespace uctrace::merge
