// When two processes last synchronised: a message of one reached the other, or both left the same
// collective operation; else when they left MPI_Init. Private to the waits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/collectives.hpp"

namespace uctrace::merge {

// An instant of each: the send and the completed receive, or leaving the operation.
struct Meeting {
  std::int64_t own_ns = -1, other_ns = -1;
};

// A message that was received: when its send was begun, and when the receive was complete.
struct ReceivedMessage {
  ProcessIndex source, destination;
  std::int64_t sent_ns = -1, received_ns = -1;
};

class Meetings {
 public:
  // Run::rank_times are there.
  Meetings(const Job& job, const Collectives& collectives,
           const std::vector<std::vector<ReceivedMessage>>& received);

  // When it must have been over at each of them.
  struct Until {
    std::int64_t own_ns, other_ns;
  };
  Meeting last(ProcessIndex own, ProcessIndex other, Until until) const;

 private:
  using Pair = std::pair<ProcessIndex, ProcessIndex>;  // the lower index first
  struct LeftOperation {
    std::int64_t left_ns;
    const CollectiveOperation* operation;
  };

  std::optional<Meeting> last_message(ProcessIndex own, ProcessIndex other, Until until) const;
  std::optional<Meeting> last_operation(ProcessIndex own, ProcessIndex other, Until until) const;

  const Job& job_;
  // Sorted by the time of the pair's first process. The second's time mostly grows with it, unless
  // it received an old message late.
  struct MessagesOfPair {
    std::vector<Meeting> meetings;
    // For each, counted from 1, the last earlier one with an earlier time at the second; 0: none.
    // So those that are later at the second are skipped at once.
    std::vector<std::size_t> earlier;
  };
  static void lay_out(MessagesOfPair& messages);
  std::map<Pair, MessagesOfPair> messages_;
  std::vector<std::vector<LeftOperation>> operations_;  // by process, then time
  std::vector<std::int64_t> began_ns_;                  // by process: RankTime::t_begin_ns
};

}  // namespace uctrace::merge
