// A communicator in one process, and the joined view of all its processes
// (log-merger/mpi/communicators.hpp joins them).
#pragma once

#include <cstdint>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// Communicators that every process has from the start. The parent is an intercommunicator of a
// spawned world.
enum class Predefined : std::uint8_t { none, world, self, parent };

// A communicator as one process has it.
struct Comm {
  std::uint64_t handle = 0, tick = 0, parent = 0;
  std::uint64_t freed_tick = UINT64_MAX;  // its handle and context may be reused afterwards
  std::uint32_t rank = 0, size = 0, remote_size = 0, ordinal = 0;
  std::int32_t leader = -1, remote_leader = -1;  // world rank of rank 0, -1 = of another world
  std::uint64_t group_hash = 0;                  // of the members, if only they call the
                                                 // constructor
  std::uint32_t function_number = 0;             // of the log
  TextId function = kNoText;
  Predefined predefined = Predefined::none;
  bool inter = false;
  bool has_members = false, truncated = false;
  std::vector<log::RankRun> members;  // world ranks of the process's own group
  TextId name = kNoText;              // set by the program, else that of the instance
  // results
  InstanceIndex instance;
  std::uint8_t side = 0;
};

// A group of its processes: all, or one side of an intercommunicator.
struct CommSide {
  Index world = kNone;
  std::int32_t leader = -1;     // world rank of its rank 0, -1 = not known
  ProcessIndex leader_process;  // its log
  CommIndex leader_comm;        // into that log's comms
  std::uint32_t size = 0;
  bool complete = false;              // all members are known
  std::vector<log::RankRun> members;  // world ranks of `world`
};

struct CommInstance {
  char letter = '?';
  bool inter = false;
  InstanceIndex parent;
  TextId function = kNoText;   // the function that made it, kNoText for predefined ones
  TextId name = kNoText;       // W0.0, s0.1
  TextId user_name = kNoText;  // of the program or MPI
  CommSide sides[2];           // the second one of an intercommunicator
  std::int64_t created_ns = -1, freed_ns = -1;
};

}  // namespace uctrace::merge
