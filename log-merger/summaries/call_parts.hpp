// The MPI calls of a run by the communicators that their time belongs to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"

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
  // Costs a pass over the communicators. The run of `source` is one that outlives this.
  explicit CallParts(const RowSource& source);

  // `wanted` of the calls, besides what the parts are made from. A call and its parts are valid
  // during body(part).
  template <typename Body>
  void for_each(Wanted<MpiCallRow> wanted, Body body) const {
    using Call = MpiCallRow;
    wanted |=
        {&Call::process, &Call::function, &Call::communicator, &Call::t_start_ns, &Call::t_end_ns};
    RowWindow<WaitShare> shares(source_, Wanted<WaitShare>::all());
    const std::size_t end = source_.count<WaitShare>();
    std::size_t next = 0;
    std::vector<WaitShare> of_call;
    for_each_row(source_, wanted, [&](const Call& call, std::size_t number) {
      of_call.clear();
      for (; next < end && shares.row(next).call == number; ++next) {
        of_call.push_back(shares.row(next));
      }
      if (of_call.empty()) {
        body(CallPart{call, communicator_of(call), duration_of(call), true});
        return;
      }
      const auto longest =
          std::max_element(of_call.begin(), of_call.end(),
                           [](const WaitShare& a, const WaitShare& b) { return a.ns < b.ns; });
      for (auto part = of_call.begin(); part != of_call.end(); ++part) {
        body(CallPart{call, part->communicator,
                      static_cast<std::uint64_t>(std::max<std::int64_t>(part->ns, 0)),
                      part == longest});
      }
    });
  }

  // Of a call, or an operation: whether it is known from when to when it went on, and how long.
  template <typename Call>
  static bool is_timed(const Call& call) {
    return call.t_start_ns >= 0 && call.t_end_ns >= call.t_start_ns;
  }
  template <typename Call>
  static std::uint64_t duration_of(const Call& call) {
    return is_timed(call) ? static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns) : 0;
  }

 private:
  std::int32_t communicator_of(const MpiCallRow& call) const;

  const RowSource source_;
  std::vector<std::int32_t> world_of_process_;  // rows of communicators
  std::vector<bool> is_of_world_;               // by function: start and end of MPI
};

}  // namespace uctrace
