// What the processes of a job sent to each other, summed from their counters: by class, who counted
// it, and the peer. For offline code.
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
// Of rows about a peer, or about each member of a communicator; nothing of others.
std::optional<CounterClass> class_of(CounterKind kind);
std::string_view name_of(CounterClass which);  // "external", "one-sided-sent", ...

using SidePair = std::pair<CountedSide, CountedSide>;   // who counted, and the peer
using SizeBins = std::array<std::uint64_t, kSizeBins>;  // messages

struct CounterCell {
  CounterTotal total;
  SizeBins bins{};  // not of what collective calls mean for each member
};

struct CounterMatrix {
  std::array<std::map<SidePair, CounterCell>, kCounterClasses> cells;

  const std::map<SidePair, CounterCell>& of(CounterClass which) const {
    return cells[static_cast<std::size_t>(which)];
  }
};

// The peer of what could not be named is nobody. What a collective call means for each member of a
// communicator whose members are not known is there once. Without collective calls there are as
// many cells as rows at most: they join each pair of a communicator.
enum class MatrixWith : std::uint8_t { collective_calls, no_collective_calls };
CounterMatrix matrix_of(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
                        MatrixWith with = MatrixWith::collective_calls);

// The messages whose peer is nobody, all classes, without making the matrix.
std::uint64_t unnamed_messages(const std::vector<CounterSnapshot>& job);

// The sides of a matrix, each with a number, for files that hold no names: the ranks of the first
// world by their ranks, as many as it has. Behind them come all ranks of later worlds, then
// processes without a rank, then workers of no process.
class SideNumbers {
 public:
  SideNumbers(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
              const CounterMatrix& matrix);

  // Of one that the matrix has, or a rank of a world; not of nobody.
  std::int32_t of(const CountedSide& side) const;
  std::int32_t size() const { return size_; }  // one more than the greatest number
  // Processes by their numbers, for whom there are files.
  const std::map<std::int32_t, std::size_t>& processes() const { return processes_; }
  // Those of which the number is not the rank, by number.
  const std::map<std::int32_t, CountedSide>& renumbered() const { return renumbered_; }

 private:
  void give(const CountedSide& side, std::int32_t number);

  std::map<CountedSide, std::int32_t> numbers_;     // any other one's is its rank
  std::map<std::int32_t, CountedSide> renumbered_;  // the same by number
  std::map<std::int32_t, std::size_t> processes_;
  std::int32_t size_ = 0;
};

// A square of numbers, row by row: of the class, or of several added. Exact up to 2^53.
enum class MatrixOf : std::uint8_t { messages, bytes, average };
std::vector<std::vector<double>> square_of(const CounterMatrix& matrix, const SideNumbers& numbers,
                                           const std::vector<CounterClass>& classes, MatrixOf what,
                                           bool symmetric);

// The ranks that a job says it has in MPI_COMM_WORLD, and those of which it has no counters: they
// have not begun, or nothing could be kept of them. Each size of a world is looked at by itself,
// because programs that MPI_Comm_spawn adds have worlds of their own; of two worlds of one size
// those ranks are missing that neither has.
struct MissingRanks {
  std::size_t missing = 0, all = 0;
};
MissingRanks missing_ranks(const std::vector<CounterSnapshot>& job);

}  // namespace uctrace::log
