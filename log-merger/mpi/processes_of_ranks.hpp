// The processes of a job by rank, and the process that a rank in a communicator addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class ProcessesOfRanks {
 public:
  struct Addressed {
    Index world = kNone;
    std::int32_t rank = -1;  // in it
    ProcessIndex process;    // kNone: it left no log
  };

  explicit ProcessesOfRanks(const Job& job);

  // kNone: the rank left no log, or does not exist.
  ProcessIndex at(Index world, std::int32_t rank) const;
  // The process addressed as `rank` in a communicator of a process: in an intercommunicator a
  // member of the remote group, maybe of another world. Nothing if not known.
  std::optional<Addressed> addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const;

  // Calls body(rank, process) for the ranks of a world in [first, last] with a log, ascending.
  template <typename Body>
  void each_in(Index world, std::int32_t first, std::int32_t last, Body body) const {
    const auto end = process_at_.upper_bound({world, last});
    for (auto one = process_at_.lower_bound({world, first}); one != end; ++one) {
      body(one->first.second, one->second);
    }
  }

 private:
  const Job& job_;
  std::map<std::pair<Index, std::int32_t>, ProcessIndex> process_at_;  // by world and rank
};

}  // namespace uctrace::merge
