#include "event-log/reader/counter_matrix.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace uctrace::log {
namespace {

// Whom a row is about, if all can be named: else it is in no pair of ranks.
class Naming {
 public:
  explicit Naming(const std::vector<CounterSnapshot>& job) : peers_(job) {}

  // Of a row about one peer.
  std::optional<std::int32_t> peer(const CounterSnapshot& process, CounterKey key) const {
    return process.rank() < 0 ? std::nullopt : peers_.rank_of(process, subject_of(key));
  }
  // Of a row about each member of a communicator; nullptr: they are not known.
  static const CountedCommunicator* members(const CounterSnapshot& process, CounterKey key) {
    const auto comm = process.communicators.find(static_cast<std::uint32_t>(subject_of(key)));
    const bool is_known = comm != process.communicators.end() && comm->second.members_known;
    return is_known && process.rank() >= 0 ? &comm->second : nullptr;
  }

 private:
  CounterPeers peers_;
};

class Builder {
 public:
  explicit Builder(const std::vector<CounterSnapshot>& job) : job_(job), naming_(job) {}

  CounterMatrix build() {
    for (const CounterSnapshot& process : job_) {
      matrix_.ranks = std::max(matrix_.ranks, process.page.world_size);
      for (const auto& [key, total] : process.rows) add(process, key, total);
    }
    for (const auto& cells : matrix_.cells) {
      for (const auto& [pair, cell] : cells) {
        matrix_.ranks = std::max({matrix_.ranks, pair.first + 1, pair.second + 1});
      }
    }
    return std::move(matrix_);
  }

 private:
  void add(const CounterSnapshot& process, CounterKey key, const CounterTotal& total) {
    const auto which = class_of(kind_of(key));
    if (!which) return;
    const auto number = static_cast<std::size_t>(*which);
    if (kind_of(key) == CounterKind::collective_each) {
      add_each(process, key, total);
      return;
    }
    const auto peer = naming_.peer(process, key);
    if (!peer) {
      matrix_.unknown[number] += total;
      return;
    }
    CounterCell& cell = matrix_.cells[number][{process.rank(), *peer}];
    cell.total += total;
    cell.bins[bin_of(key)] += total.messages;
  }

  void add_each(const CounterSnapshot& process, CounterKey key, const CounterTotal& total) {
    const auto class_number = static_cast<std::size_t>(CounterClass::collective);
    const CountedCommunicator* comm = Naming::members(process, key);
    if (comm == nullptr) {
      matrix_.unknown[class_number] += total;
      return;
    }
    for (const std::int32_t member : comm->others(process.rank())) {
      matrix_.cells[class_number][{process.rank(), member}].total += total;
    }
  }

  const std::vector<CounterSnapshot>& job_;
  Naming naming_;
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

CounterMatrix matrix_of(const std::vector<CounterSnapshot>& job) { return Builder(job).build(); }

std::uint64_t unnamed_messages(const std::vector<CounterSnapshot>& job) {
  const Naming naming(job);
  std::uint64_t sum = 0;
  for (const CounterSnapshot& process : job) {
    for (const auto& [key, total] : process.rows) {
      if (!class_of(kind_of(key))) continue;
      const bool is_named = kind_of(key) == CounterKind::collective_each
                                ? Naming::members(process, key) != nullptr
                                : naming.peer(process, key).has_value();
      if (!is_named) sum += total.messages;
    }
  }
  return sum;
}

std::vector<std::vector<double>> square_of(const CounterMatrix& matrix,
                                           const std::vector<CounterClass>& classes, MatrixOf what,
                                           bool symmetric) {
  const auto size = static_cast<std::size_t>(std::max(matrix.ranks, 0));
  std::vector<std::vector<double>> messages(size, std::vector<double>(size)), bytes = messages;
  for (const CounterClass which : classes) {
    for (const auto& [pair, cell] : matrix.of(which)) {
      const auto from = static_cast<std::size_t>(pair.first);
      const auto to = static_cast<std::size_t>(pair.second);
      messages[from][to] += static_cast<double>(cell.total.messages);
      bytes[from][to] += static_cast<double>(cell.total.bytes);
    }
  }
  // As Open MPI's scripts have it: the mean of both directions, in both places.
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
  // Before MPI_Init a process has the rank that its launcher counts.
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
