#include "log-merger/placement/rank_matrix.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "event-log/reader/counter_matrix.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/liveness.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {
namespace {

constexpr std::int32_t kNoRank = -1;

[[noreturn]] void refuse(std::string why, std::string to_do) {
  throw Error({.what = "cannot place the ranks of this run",
               .why = std::move(why),
               .to_do = std::move(to_do)});
}

// The rank of each process in the first world, and the host of each rank.
std::vector<std::int32_t> ranks_of(const Run& run, std::vector<std::string>& hosts) {
  std::vector<std::int32_t> ranks(run.processes.size(), kNoRank);
  std::int32_t size = 0;
  for (const Process& process : run.processes) {
    if (process.world == 0 && process.rank >= 0) size = std::max(size, process.world_size);
  }
  if (size <= 0) {
    refuse("no process of it has a rank: it is no job of MPI, or died in MPI_Init",
           "record a job of MPI");
  }
  hosts.assign(static_cast<std::size_t>(size), "");
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const Process& process = run.processes[i];
    if (process.world != 0 || process.rank < 0 || process.rank >= size) continue;
    ranks[i] = process.rank;
    hosts[static_cast<std::size_t>(process.rank)] = run.texts[process.host];
  }
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank].empty()) {
      refuse(fmt::format("rank {} left no log: where it ran is not known", rank),
             "record all ranks");
    }
  }
  return ranks;
}

class Collector {
 public:
  Collector(const std::vector<std::int32_t>& ranks, std::uint64_t& left_out)
      : ranks_(ranks), left_out_(left_out) {}

  void add(std::int32_t a, std::int32_t b, std::uint64_t weight) {
    const std::int32_t rank_a = rank_of(a), rank_b = rank_of(b);
    if (rank_a == kNoRank || rank_b == kNoRank) {
      left_out_ = placement::add_up(left_out_, weight);
    } else if (weight != 0) {
      pairs_.push_back({static_cast<placement::RankNumber>(rank_a),
                        static_cast<placement::RankNumber>(rank_b), weight});
    }
  }
  std::vector<placement::Pair> take() { return std::move(pairs_); }

 private:
  std::int32_t rank_of(std::int32_t process) const {
    return process < 0 ? kNoRank : ranks_[static_cast<std::size_t>(process)];
  }

  const std::vector<std::int32_t>& ranks_;
  std::uint64_t& left_out_;
  std::vector<placement::Pair> pairs_;
};

void collect_waits(const RowSource& source, Collector& collector) {
  const Wanted<Wait> wanted{&Wait::kind, &Wait::process, &Wait::cause_process, &Wait::ns};
  for_each_row(source, wanted, [&](const Wait& wait, std::size_t) {
    if (!is_in_totals(wait.kind) || wait.ns <= 0) return;
    collector.add(static_cast<std::int32_t>(wait.process), wait.cause_process,
                  static_cast<std::uint64_t>(wait.ns));
  });
}

void collect_messages(const RowSource& source, PlacementBy by, Collector& collector) {
  using M = Message;
  const Wanted<M> wanted{&M::src_process, &M::dst_process, &M::bytes};
  for_each_traffic(source, Filter(source, {}), wanted, {}, [&](const Traffic& traffic) {
    collector.add(traffic.like.src_process, traffic.like.dst_process,
                  by == PlacementBy::bytes ? traffic.bytes : traffic.messages);
  });
}

// The processes of the run for sides of counters; -1: none.
class PlacesInRun {
 public:
  PlacesInRun(const Run& run, const std::vector<log::CounterSnapshot>& counted,
              const log::CountedSides& sides)
      : sides_(sides) {
    std::unordered_map<std::string, std::int32_t> place_of_key;
    for (std::size_t i = 0; i < run.processes.size(); ++i) {
      const Process& process = run.processes[i];
      place_of_key[run.texts[process.key]] = static_cast<std::int32_t>(i);
      if (process.world == 0) place_of_rank_[process.rank] = static_cast<std::int32_t>(i);
    }
    for (const log::CounterSnapshot& process : counted) {
      const auto found =
          place_of_key.find(plain_text(log::process_key(process.process(), process.page.image)));
      places_.push_back(found != place_of_key.end() ? found->second : -1);
    }
  }

  std::int32_t of(const log::CountedSide& side) const {
    if (side.process >= 0) return places_[static_cast<std::size_t>(side.process)];
    if (side.rank < 0 || sides_.world_of(side) > 0) return -1;
    const auto found = place_of_rank_.find(side.rank);  // it has no counters
    return found != place_of_rank_.end() ? found->second : -1;
  }

 private:
  const log::CountedSides& sides_;
  std::vector<std::int32_t> places_;  // of each counted process
  std::unordered_map<std::int32_t, std::int32_t> place_of_rank_;
};

// Messages sent, and data of one-sided operations; not collective calls, because their messages are
// already counted as internal ones.
void collect_counters(const Run& run, PlacementBy by,
                      const std::vector<log::CounterSnapshot>& counted, Collector& collector) {
  if (counted.empty()) {
    refuse("no message of it was recorded, and it has no counters",
           "record messages, or counters (record --counters)");
  }
  if (by == PlacementBy::waits) {
    refuse("no wait of it was recorded: counters (record --counters) have none",
           "take --by bytes or messages, or record without --counters");
  }
  const log::CountedSides sides(counted);
  const log::CounterMatrix matrix =
      log::matrix_of(counted, sides, log::MatrixWith::no_collective_calls);
  const PlacesInRun places(run, counted, sides);
  for (const auto& cells : matrix.cells) {
    for (const auto& [pair, cell] : cells) {
      collector.add(places.of(pair.first), places.of(pair.second),
                    by == PlacementBy::bytes ? cell.total.bytes : cell.total.messages);
    }
  }
}

}  // namespace

const char* name_of(PlacementBy by) {
  static constexpr const char* kNames[] = {"bytes", "messages", "waits"};
  const auto i = static_cast<std::size_t>(by);
  return i < std::size(kNames) ? kNames[i] : "?";
}

RankMatrix rank_matrix(const RowSource& source, PlacementBy by,
                       const std::vector<log::CounterSnapshot>& counted) {
  RankMatrix matrix;
  const std::vector<std::int32_t> ranks = ranks_of(source.run(), matrix.host);
  Collector collector(ranks, matrix.left_out);
  if (by == PlacementBy::waits && source.count<Wait>() != 0) {
    collect_waits(source, collector);
  } else if (source.count<Message>() == 0) {
    collect_counters(source.run(), by, counted, collector);
    matrix.is_of_counters = true;
    matrix.ranks_without_counters = log::missing_ranks(counted).missing;
  } else if (by != PlacementBy::waits) {
    collect_messages(source, by, collector);
  }
  matrix.affinity = placement::Affinity(matrix.host.size(), collector.take());
  return matrix;
}

}  // namespace uctrace
