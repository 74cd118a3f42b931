#include "event-log/reader/counter_matrix.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace uctrace::log {
namespace {

class Builder {
 public:
  Builder(const std::vector<CounterSnapshot>& job, const CountedSides& sides, MatrixWith with)
      : job_(job), sides_(sides), with_(with) {}

  CounterMatrix build() {
    for (std::size_t process = 0; process < job_.size(); ++process) {
      for (const auto& [key, total] : job_[process].rows) add(process, key, total);
    }
    return std::move(matrix_);
  }

 private:
  void add(std::size_t process, CounterKey key, const CounterTotal& total) {
    const auto which = class_of(kind_of(key));
    if (!which) return;
    if (*which == CounterClass::collective && with_ == MatrixWith::no_collective_calls) return;
    auto& cells = matrix_.cells[static_cast<std::size_t>(*which)];
    const CountedSide self = sides_.of(process);
    if (kind_of(key) == CounterKind::collective_each) {
      for (const CountedSide& member : sides_.others(process, subject_of(key))) {
        cells[{self, member}].total += total;
      }
      return;
    }
    CounterCell& cell = cells[{self, sides_.peer(process, subject_of(key))}];
    cell.total += total;
    cell.bins[bin_of(key)] += total.messages;
  }

  const std::vector<CounterSnapshot>& job_;
  const CountedSides& sides_;
  const MatrixWith with_;
  CounterMatrix matrix_;
};

}  // namespace

std::optional<CounterClass> class_of(CounterKind kind) {
  switch (kind) {
    case CounterKind::external:
      return CounterClass::external;
    case CounterKind::internal:
      return CounterClass::internal;
    case CounterKind::one_sided_sent:
      return CounterClass::one_sided_sent;
    case CounterKind::one_sided_received:
      return CounterClass::one_sided_received;
    case CounterKind::collective:
    case CounterKind::collective_each:
      return CounterClass::collective;
    default:
      return std::nullopt;
  }
}

std::string_view name_of(CounterClass which) {
  static constexpr std::string_view kNames[] = {"external", "internal", "one-sided-sent",
                                                "one-sided-received", "collective"};
  static_assert(std::size(kNames) == kCounterClasses);
  return kNames[static_cast<std::size_t>(which)];
}

CounterMatrix matrix_of(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
                        MatrixWith with) {
  return Builder(job, sides, with).build();
}

std::uint64_t unnamed_messages(const std::vector<CounterSnapshot>& job) {
  const CountedSides sides(job);
  std::uint64_t sum = 0;
  for (std::size_t process = 0; process < job.size(); ++process) {
    for (const auto& [key, total] : job[process].rows) {
      if (!class_of(kind_of(key))) continue;
      const bool is_named = kind_of(key) == CounterKind::collective_each
                                ? sides.knows_members(process, subject_of(key))
                                : sides.peer(process, subject_of(key)).is_known();
      if (!is_named) sum += total.messages;
    }
  }
  return sum;
}

namespace {

// All sides that need a number: those in the matrix, and each rank of the later worlds.
std::set<CountedSide> sides_in(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
                               const CounterMatrix& matrix) {
  std::set<CountedSide> all;
  std::set<std::int32_t> worlds;
  for (std::size_t process = 0; process < job.size(); ++process) {
    const CountedSide self = sides.of(process);
    if (self.rank >= 0) all.insert(self);
    const std::int32_t world = sides.world_of(self);
    if (world <= 0 || !worlds.insert(world).second) continue;
    for (std::int32_t rank = 0; rank < job[process].page.world_size; ++rank) {
      all.insert(sides.member(process, rank));
    }
  }
  for (const auto& cells : matrix.cells) {
    for (const auto& [pair, cell] : cells) {
      all.insert(pair.first);
      all.insert(pair.second);
    }
  }
  all.erase(CountedSide{});
  return all;
}

}  // namespace

SideNumbers::SideNumbers(const std::vector<CounterSnapshot>& job, const CountedSides& sides,
                         const CounterMatrix& matrix) {
  // Without any world, ranks are those of the launcher.
  std::int32_t first_world = -1;
  for (std::size_t process = 0; process < job.size(); ++process) {
    const std::int32_t world = sides.world_of(sides.of(process));
    if (world >= 0) first_world = 0;
    if (world == 0) size_ = std::max(size_, job[process].page.world_size);
  }
  // By world, then in the order of sides: a side without a rank has no world.
  std::vector<std::pair<std::int32_t, CountedSide>> others;
  for (const CountedSide& side : sides_in(job, sides, matrix)) {
    const std::int32_t world = sides.world_of(side);
    if (side.rank >= 0 && world == first_world) {
      give(side, side.rank);
    } else {
      others.emplace_back(side.rank >= 0 ? world : INT32_MAX, side);
    }
  }
  std::sort(others.begin(), others.end());
  for (const auto& [world, side] : others) give(side, size_);
}

void SideNumbers::give(const CountedSide& side, std::int32_t number) {
  if (side.process >= 0) processes_.emplace(number, static_cast<std::size_t>(side.process));
  if (side.rank != number) {
    numbers_.emplace(side, number);
    renumbered_.emplace(number, side);
  }
  size_ = std::max(size_, number + 1);
}

std::int32_t SideNumbers::of(const CountedSide& side) const {
  const auto found = numbers_.find(side);
  return found != numbers_.end() ? found->second : side.rank;
}

std::vector<std::vector<double>> square_of(const CounterMatrix& matrix, const SideNumbers& numbers,
                                           const std::vector<CounterClass>& classes, MatrixOf what,
                                           bool symmetric) {
  const auto size = static_cast<std::size_t>(numbers.size());
  std::vector<std::vector<double>> messages(size, std::vector<double>(size)), bytes = messages;
  for (const CounterClass which : classes) {
    for (const auto& [pair, cell] : matrix.of(which)) {
      if (!pair.second.is_known()) continue;
      const auto from = static_cast<std::size_t>(numbers.of(pair.first));
      const auto to = static_cast<std::size_t>(numbers.of(pair.second));
      messages[from][to] += static_cast<double>(cell.total.messages);
      bytes[from][to] += static_cast<double>(cell.total.bytes);
    }
  }
  // As in Open MPI's scripts: the mean of both directions, in both places.
  for (std::size_t i = 0; symmetric && i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      messages[i][j] = messages[j][i] = (messages[i][j] + messages[j][i]) / 2;
      bytes[i][j] = bytes[j][i] = (bytes[i][j] + bytes[j][i]) / 2;
    }
  }
  if (what == MatrixOf::messages) return messages;
  for (std::size_t i = 0; what == MatrixOf::average && i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      bytes[i][j] = messages[i][j] != 0 ? bytes[i][j] / messages[i][j] : 0;
    }
  }
  return bytes;
}

MissingRanks missing_ranks(const std::vector<CounterSnapshot>& job) {
  std::map<std::int32_t, std::set<std::int32_t>> worlds;  // by size
  for (const CounterSnapshot& process : job) {
    const CounterPage& page = process.page;
    if (page.world_rank >= 0 && page.world_rank < page.world_size) {
      worlds[page.world_size].insert(page.world_rank);
    }
  }
  // Before MPI_Init a process has its launcher's rank.
  for (const CounterSnapshot& process : job) {
    const auto world = worlds.find(process.page.launch_size);
    if (process.page.world_rank < 0 && process.rank() >= 0 && world != worlds.end()) {
      world->second.insert(process.rank());
    }
  }
  MissingRanks found;
  for (const auto& [size, ranks] : worlds) {
    found.all += static_cast<std::size_t>(size);
    found.missing +=
        static_cast<std::size_t>(size) - std::min(ranks.size(), static_cast<std::size_t>(size));
  }
  return found;
}

}  // namespace uctrace::log
