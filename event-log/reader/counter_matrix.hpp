// What the processes of a job sent to each other, summed from their counters: by class, sender and
// peer, all ranks in MPI_COMM_WORLD. For offline code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

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

using RankPair = std::pair<std::int32_t, std::int32_t>;  // who counted, and the peer
using SizeBins = std::array<std::uint64_t, kSizeBins>;   // messages

struct CounterCell {
  CounterTotal total;
  SizeBins bins{};  // not of what collective calls mean for each member
};

struct CounterMatrix {
  std::array<std::map<RankPair, CounterCell>, kCounterClasses> cells;
  // What is about nobody that could be named, or was counted by a process without a rank.
  std::array<CounterTotal, kCounterClasses> unknown{};
  std::int32_t ranks = 0;  // one more than the greatest there is, and at least the world's size

  const std::map<RankPair, CounterCell>& of(CounterClass which) const {
    return cells[static_cast<std::size_t>(which)];
  }
};

CounterMatrix matrix_of(const std::vector<CounterSnapshot>& job);

// The messages of CounterMatrix::unknown, all classes, without making the matrix, which has a cell
// for each pair of ranks that a collective call joins.
std::uint64_t unnamed_messages(const std::vector<CounterSnapshot>& job);

// A square of numbers, row by row: of the class, or of several added.
enum class MatrixOf : std::uint8_t { messages, bytes, average };
std::vector<std::vector<double>> square_of(const CounterMatrix& matrix,
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
