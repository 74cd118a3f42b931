// The MPI calls of a run, divided by the communicators of their time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// A call, or its part for the requests of one communicator.
struct CallPart {
  const MpiCallRow& call;
  std::int32_t communicator;  // -1 = none; start and end of MPI belong to the world
  std::uint64_t ns;
  bool counts;                   // exactly one part of a call counts it: the longest
  std::uint64_t waiting_ns = 0;  // of it, for other processes
  std::uint64_t unknown_ns = 0;  // of it, perhaps waiting
};

class CallParts {
 public:
  // Costs a pass over the communicators. The run of `source` must outlive this.
  explicit CallParts(const RowSource& source);

  // `wanted` members of calls, besides those needed for the parts. A call and its parts are valid
  // during body(part).
  template <typename Body>
  void for_each(Wanted<MpiCallRow> wanted, Body body) const {
    using Call = MpiCallRow;
    wanted |=
        {&Call::process, &Call::function, &Call::communicator, &Call::t_start_ns, &Call::t_end_ns};
    RowsOfCalls<WaitShare> shares(source_, Wanted<WaitShare>::all());
    RowsOfCalls<Wait> waits(
        source_, {&Wait::call, &Wait::kind, &Wait::communicator, &Wait::ns, &Wait::unknown_ns});
    std::vector<CallPart> parts;
    for_each_row(source_, wanted, [&](const Call& call, std::size_t number) {
      divide(call, shares.of(number), waits.of(number), parts);
      for (const CallPart& part : parts) body(part);
    });
  }

  // Whether start and end of a call or operation are known, and its duration.
  template <typename Call>
  static bool is_timed(const Call& call) {
    return call.t_start_ns >= 0 && call.t_end_ns >= call.t_start_ns;
  }
  template <typename Call>
  static std::uint64_t duration_of(const Call& call) {
    return is_timed(call) ? static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns) : 0;
  }

 private:
  // Rows of a table that is by call, for calls in their order.
  template <typename Row>
  class RowsOfCalls {
   public:
    RowsOfCalls(const RowSource& source, Wanted<Row> wanted)
        : rows_(source, wanted), end_(source.count<Row>()) {}

    const std::vector<Row>& of(std::size_t call) {
      found_.clear();
      for (; next_ < end_ && std::cmp_equal(rows_.row(next_).call, call); ++next_) {
        found_.push_back(rows_.row(next_));
      }
      return found_;
    }

   private:
    RowWindow<Row> rows_;
    std::size_t end_, next_ = 0;
    std::vector<Row> found_;
  };

  // `parts` is reused to avoid an allocation per call.
  void divide(const MpiCallRow& call, const std::vector<WaitShare>& shares,
              const std::vector<Wait>& waits, std::vector<CallPart>& parts) const;
  std::int32_t communicator_of(const MpiCallRow& call) const;

  const RowSource source_;
  std::vector<std::int32_t> world_of_process_;  // rows of communicators
  std::vector<bool> is_of_world_;               // by function: start and end of MPI
};

}  // namespace uctrace
