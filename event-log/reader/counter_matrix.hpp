// What the processes of a job sent to each other, summed from their counters: by class, counting
// side and peer. For offline code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "event-log/reader/counted_sides.hpp"
#include "event-log/reader/counter_file.hpp"

namespace uctrace::log {

enum class CounterClass : std::uint8_t {
  external,
  internal,
  one_sided_sent,
  one_sided_received,
  collective,
};
inline constexpr std::size_t kCounterClasses = 5;
// For rows about a peer, or about each member of a communicator; nothing for others.
std::optional<CounterClass> class_of(CounterKind kind);
std::string_view name_of(CounterClass which);  // "external", "one-sided-sent", ...

using SidePair = std::pair<CountedSide, CountedSide>;   // the side that counted, and the peer
using SizeBins = std::array<std::uint64_t, kSizeBins>;  // messages

struct CounterCell {
  CounterTotal total;
  SizeBins bins{};  // without collective calls
};

struct CounterMatrix {
  std::array<std::map<SidePair, CounterCell>, kCounterClasses> cells;

  const std::map<SidePair, CounterCell>& of(CounterClass which) const {
    return cells[static_cast<std::size_t>(which)];
  }
};

// A peer that could not be named is nobody. For a communicator with unknown members, the amount per
// member is counted once. Collective calls add a cell for each pair of a communicator; without them
// there are at most as many cells as rows.
enum class MatrixWith : std::uint8_t { collective_calls, no_collective_calls };
CounterMatrix matrix_of(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
                        MatrixWith with = MatrixWith::collective_calls);

// The number of messages whose peer is nobody, in all classes, without making the matrix.
std::uint64_t unnamed_messages(const std::vector<CounterSnapshot>& job);

// Numbers the sides of a matrix, for files without names. First come the ranks of the first world,
// by rank. All ranks of later worlds follow, then processes without a rank, then workers of no
// process.
class SideNumbers {
 public:
  SideNumbers(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
              const CounterMatrix& matrix);

  // For a side in the matrix, or a rank of a world; not for nobody.
  std::int32_t of(const CountedSide& side) const;
  std::int32_t size() const { return size_; }  // the largest number plus one
  // The processes with files, by number.
  const std::map<std::int32_t, std::size_t>& processes() const { return processes_; }
  // Sides whose number is not their rank, by number.
  const std::map<std::int32_t, CountedSide>& renumbered() const { return renumbered_; }

 private:
  void give(const CountedSide& side, std::int32_t number);

  std::map<CountedSide, std::int32_t> numbers_;     // for all others the number is the rank
  std::map<std::int32_t, CountedSide> renumbered_;  // the same by number
  std::map<std::int32_t, std::size_t> processes_;
  std::int32_t size_ = 0;
};

// A square of numbers, row by row: of a class, or of the sum of several. Exact up to 2^53.
enum class MatrixOf : std::uint8_t { messages, bytes, average };
std::vector<std::vector<double>> square_of(const CounterMatrix& matrix, const SideNumbers& numbers,
                                           const std::vector<CounterClass>& classes, MatrixOf what,
                                           bool symmetric);

// The ranks of MPI_COMM_WORLD according to the job, and those without counters: they have not
// begun, or their counters could not be kept. Each size of a world is checked separately, because
// spawned programs have their own worlds. Of two worlds of the same size, a rank is missing if
// neither has it.
struct MissingRanks {
  std::size_t missing = 0, all = 0;
};
MissingRanks missing_ranks(const std::vector<CounterSnapshot>& job);

}  // namespace uctrace::log
