// The two ends of the traffic that the processes of a job counted. For offline code.
//
//   CountedSides sides(job);                          // keeps a reference to it
//   sides.label(sides.peer(2, log::subject_of(key)))  // "7", or "7@host:pid", or "host:pid"
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "event-log/reader/counter_file.hpp"

namespace uctrace::log {

// A process of the job, a rank without counters, a worker of no process of the job, or nobody: the
// peer is not known.
struct CountedSide {
  std::int32_t rank = -1;     // in the MPI_COMM_WORLD of its process
  std::int32_t process = -1;  // its place in the job
  std::int32_t world = -1;    // of a rank without counters
  std::uint64_t worker = 0;   // uid, of a worker of no process

  bool is_known() const { return rank >= 0 || process >= 0 || worker != 0; }
  bool operator==(const CountedSide&) const = default;
  // By rank; sides without one come last.
  std::strong_ordering operator<=>(const CountedSide& other) const { return key() <=> other.key(); }

 private:
  std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::uint64_t> key() const {
    return {static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(process), world, worker};
  }
};

// A program started by MPI_Comm_spawn has its own world, whose ranks begin with 0 again. No file
// names a world, but spawned processes have a parent, and each rank occurs once in a world. So
// among worlds of one size, the first process to start of each rank is taken for the first world,
// the second for the second, and so on, as for a trace (log-merger/peers/worlds.cpp). This may
// confuse a rank without counters with that of another spawned world of the same size.
class CountedSides {
 public:
  explicit CountedSides(const std::vector<CounterSnapshot>& job);

  // The process at this place of the job. Its rank is that of MPI or, before MPI_Init, the
  // launcher's if no other process has the same: a child of a rank inherits its numbers.
  CountedSide of(std::size_t process) const;
  // The peer of a row that this process counted.
  CountedSide peer(std::size_t process, std::uint64_t subject) const;
  // A rank in the world of this process.
  CountedSide member(std::size_t process, std::int32_t rank) const;
  // For a row about each other member of a communicator: the members without this process. Nobody,
  // if they are not known.
  std::vector<CountedSide> others(std::size_t process, std::uint64_t communicator) const;
  bool knows_members(std::size_t process, std::uint64_t communicator) const;
  // Which MPI_COMM_WORLD: 0, spawned ones later, each in the order of their start; -1: none.
  std::int32_t world_of(const CountedSide& side) const;
  // Whether its rank identifies it: no other process of the job has this rank.
  bool is_told_by_rank(const CountedSide& side) const;

  // The same words as in reports of a trace (log-merger/summaries/filter.hpp): the rank if only one
  // process has it, else RANK@HOST:PID; HOST:PID without a rank. Empty for nobody.
  std::string label(const CountedSide& side) const;

 private:
  using WorldRank = std::pair<std::int32_t, std::int32_t>;
  struct Place {
    std::int32_t rank = -1, world = -1;
  };

  const CountedCommunicator* members_of(std::size_t process, std::uint64_t communicator) const;
  void find_worlds();
  void adopt_launch_ranks();

  const std::vector<CounterSnapshot>& job_;
  std::vector<Place> places_;  // of each process
  std::vector<std::int32_t> world_sizes_;
  std::map<WorldRank, std::int32_t> process_at_;
  std::map<std::int32_t, std::size_t> processes_of_rank_;
  std::map<std::uint64_t, std::int32_t> process_of_worker_;
};

}  // namespace uctrace::log
