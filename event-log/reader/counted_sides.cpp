#include "event-log/reader/counted_sides.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace uctrace::log {
namespace {

constexpr std::int32_t as_place(std::size_t index) { return static_cast<std::int32_t>(index); }

// The launcher's rank; -1: it says nothing, or something impossible.
std::int32_t launch_rank_of(const CounterPage& page) {
  const std::int32_t most = std::min(page.launch_size, kMostRanks);
  return 0 <= page.launch_rank && page.launch_rank < most ? page.launch_rank : -1;
}

std::string in_hex(std::uint64_t number) {
  char digits[16];
  return {digits, std::to_chars(digits, std::end(digits), number, 16).ptr};
}

}  // namespace

CountedSides::CountedSides(const std::vector<CounterSnapshot>& job)
    : job_(job), places_(job.size()) {
  find_worlds();
  adopt_launch_ranks();
  for (std::size_t i = 0; i < job.size(); ++i) {
    if (places_[i].rank >= 0) ++processes_of_rank_[places_[i].rank];
    for (const std::uint64_t uid : job[i].workers) process_of_worker_.emplace(uid, as_place(i));
  }
}

void CountedSides::find_worlds() {
  // Numbers worlds as they are found: spawned ones last, each by its start.
  std::vector<std::tuple<bool, std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < job_.size(); ++i) {
    const CounterPage& page = job_[i].page;
    if (page.world_rank >= 0) order.emplace_back(job_[i].spawned, page.started_realtime_ns, i);
  }
  std::sort(order.begin(), order.end());
  using Kind = std::pair<bool, std::int32_t>;  // spawned, size
  std::map<std::pair<Kind, std::size_t>, std::int32_t> worlds;
  std::map<std::pair<Kind, std::int32_t>, std::size_t> turns;  // by rank
  for (const auto& [spawned, started, i] : order) {
    const CounterPage& page = job_[i].page;
    const Kind kind{spawned, page.world_size};
    const std::size_t turn = turns[{kind, page.world_rank}]++;
    const auto [world, is_new] = worlds.try_emplace({kind, turn}, as_place(world_sizes_.size()));
    if (is_new) world_sizes_.push_back(page.world_size);
    places_[i] = {page.world_rank, world->second};
    process_at_.emplace(WorldRank(world->second, page.world_rank), as_place(i));
  }
}

void CountedSides::adopt_launch_ranks() {
  std::map<std::int32_t, std::size_t> claims;
  const auto claimed = [&](std::size_t i) {
    return places_[i].rank >= 0 ? places_[i].rank : launch_rank_of(job_[i].page);
  };
  for (std::size_t i = 0; i < job_.size(); ++i) ++claims[claimed(i)];
  for (std::size_t i = 0; i < job_.size(); ++i) {
    const std::int32_t rank = claimed(i);
    if (places_[i].rank >= 0 || rank < 0 || claims[rank] != 1) continue;
    const auto world =
        std::find(world_sizes_.begin(), world_sizes_.end(), job_[i].page.launch_size);
    const bool is_there = world != world_sizes_.end();
    places_[i] = {rank,
                  is_there ? as_place(static_cast<std::size_t>(world - world_sizes_.begin())) : -1};
    process_at_.emplace(WorldRank(places_[i].world, rank), as_place(i));
  }
}

CountedSide CountedSides::of(std::size_t process) const {
  return {.rank = places_[process].rank, .process = as_place(process)};
}

CountedSide CountedSides::member(std::size_t process, std::int32_t rank) const {
  if (rank < 0) return {};
  const std::int32_t world = places_[process].world;
  const auto found = process_at_.find({world, rank});
  if (found != process_at_.end()) return of(static_cast<std::size_t>(found->second));
  return {.rank = rank, .world = world};
}

// nullptr: the members, or the process's place among them, are not known.
const CountedCommunicator* CountedSides::members_of(std::size_t process,
                                                    std::uint64_t communicator) const {
  const auto& communicators = job_[process].communicators;
  const auto found = communicators.find(static_cast<std::uint32_t>(communicator));
  const bool is_known = found != communicators.end() && found->second.members_known;
  return is_known && places_[process].rank >= 0 ? &found->second : nullptr;
}

bool CountedSides::knows_members(std::size_t process, std::uint64_t communicator) const {
  return members_of(process, communicator) != nullptr;
}

std::vector<CountedSide> CountedSides::others(std::size_t process,
                                              std::uint64_t communicator) const {
  const CountedCommunicator* comm = members_of(process, communicator);
  if (comm == nullptr) return {CountedSide{}};
  std::vector<CountedSide> sides;
  for (const std::int32_t rank : comm->others(places_[process].rank)) {
    sides.push_back(member(process, rank));
  }
  return sides;
}

CountedSide CountedSides::peer(std::size_t process, std::uint64_t subject) const {
  if (subject < kNamedPeer) return member(process, static_cast<std::int32_t>(subject));
  if (subject == kUnknownPeer) return {};
  const auto& peers = job_[process].peers;
  const auto uid = peers.find(static_cast<std::uint32_t>(subject & (kNamedPeer - 1)));
  if (uid == peers.end() || uid->second == 0) return {};
  const auto found = process_of_worker_.find(uid->second);
  if (found == process_of_worker_.end()) return {.worker = uid->second};
  return of(static_cast<std::size_t>(found->second));
}

std::int32_t CountedSides::world_of(const CountedSide& side) const {
  return side.process >= 0 ? places_[static_cast<std::size_t>(side.process)].world : side.world;
}

bool CountedSides::is_told_by_rank(const CountedSide& side) const {
  if (side.rank < 0) return false;
  const auto processes = processes_of_rank_.find(side.rank);
  const std::size_t count = processes != processes_of_rank_.end() ? processes->second : 0;
  return side.process >= 0 ? count == 1 : count == 0 && world_sizes_.size() <= 1;
}

std::string CountedSides::label(const CountedSide& side) const {
  const std::string rank = side.rank >= 0 ? std::to_string(side.rank) : "";
  if (is_told_by_rank(side)) return rank;
  if (side.process >= 0) {
    const CounterSnapshot& process = job_[static_cast<std::size_t>(side.process)];
    const std::string place = process.host() + ':' + std::to_string(process.page.pid);
    return side.rank >= 0 ? rank + '@' + place : place;
  }
  if (side.rank >= 0) return rank + "@unknown";
  return side.worker != 0 ? "worker 0x" + in_hex(side.worker) : "";
}

}  // namespace uctrace::log
