// The MPI calls of a run by the communicators that their time belongs to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

// A call, or what of it went to the requests of one communicator.
struct CallPart {
  const MpiCallRow& call;
  std::int32_t communicator;  // -1 = none; start and end of MPI are on its world
  std::uint64_t ns;
  bool counts;  // of the parts of a call one stands for it: the longest
};

class CallParts {
 public:
  // Keeps a reference to `run`. Costs a pass over the communicators.
  explicit CallParts(const Run& run);

  template <typename Body>
  void for_each(Body body) const {
    auto share = run_.wait_shares.begin();
    const auto end = run_.wait_shares.end();
    for (std::size_t i = 0; i < run_.mpi_calls.size(); ++i) {
      const MpiCallRow& call = run_.mpi_calls[i];
      const auto first = share;
      while (share != end && share->call == i) ++share;
      if (first == share) {
        body(CallPart{call, communicator_of(call), duration_of(call), true});
        continue;
      }
      const auto longest = std::max_element(
          first, share, [](const WaitShare& a, const WaitShare& b) { return a.ns < b.ns; });
      for (auto part = first; part != share; ++part) {
        body(CallPart{call, part->communicator,
                      static_cast<std::uint64_t>(std::max<std::int64_t>(part->ns, 0)),
                      part == longest});
      }
    }
  }

  static std::uint64_t duration_of(const MpiCallRow& call) {
    return call.t_start_ns < 0 || call.t_end_ns < call.t_start_ns
               ? 0
               : static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns);
  }

 private:
  std::int32_t communicator_of(const MpiCallRow& call) const;

  const Run& run_;
  std::vector<std::int32_t> world_of_process_;  // rows of communicators
  std::vector<bool> is_of_world_;               // by function: start and end of MPI
};

}  // namespace uctrace
