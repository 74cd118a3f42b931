#include "log-merger/replay/replay.hpp"

#include <algorithm>
#include <compare>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "log-merger/replay/lines.hpp"

namespace uctrace::replay {

namespace {

// Longer than any run, and small enough that sums of two do not overflow.
constexpr std::int64_t kFarthestNs = INT64_MAX / 4;

std::int64_t later(std::int64_t ns, std::int64_t by_ns) {
  return std::min(ns + std::clamp<std::int64_t>(by_ns, 0, kFarthestNs), kFarthestNs);
}

// The same instant as recorded and in the replay.
struct Both {
  std::int64_t recorded_ns = INT64_MIN, replayed_ns = INT64_MIN;

  bool known() const { return recorded_ns != INT64_MIN; }
  void wait_for(const Both& other) {
    recorded_ns = std::max(recorded_ns, other.recorded_ns);
    replayed_ns = std::max(replayed_ns, other.replayed_ns);
  }
};

// When a call is entered or left. Ordered by time, then by line, then by call: a call may begin at
// the instant at which the previous one ends.
class Instant {
 public:
  Instant(std::int64_t ns, std::uint32_t line, bool begins, std::uint32_t call, bool is_end)
      : ns_(ns),
        rest_(std::uint64_t{line} << 33 | std::uint64_t{begins} << 32 | call << 1 | is_end) {}

  std::int64_t ns() const { return ns_; }
  bool is_end() const { return (rest_ & 1) != 0; }
  std::uint32_t line() const { return static_cast<std::uint32_t>(rest_ >> 33); }
  std::int32_t call() const {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(rest_) >> 1);
  }
  auto operator<=>(const Instant&) const = default;

 private:
  std::int64_t ns_;
  // Everything else in one number for a single comparison: 31 bits of line, whether the call begins
  // at this time, 31 bits of call, whether it is its end.
  std::uint64_t rest_;
};

// The state of an operation's calls so far.
struct Operation {
  Both last;
  std::uint64_t entered = 0, members = 0;
};

class Replay {
 public:
  Replay(const std::vector<Call>& calls, std::vector<Dependency> dependencies,
         std::size_t processes, Times& times)
      : calls_(calls),
        dependencies_(std::move(dependencies)),
        times_(times),
        lines_(calls, processes),
        entered_ns_(calls.size(), kNotEntered),
        processes_(processes),
        now_(lines_.count()) {
    result_.processes.resize(processes);
    std::stable_sort(dependencies_.begin(), dependencies_.end(),
                     [](const Dependency& a, const Dependency& b) { return a.call < b.call; });
    for (const Dependency& one : dependencies_) add_member(one);
    std::sort(enters_.begin(), enters_.end());
    std::sort(below_.begin(), below_.end());
  }

  Replayed run() {
    const std::vector<Instant> all = instants();
    for (auto begin = all.begin(); begin != all.end();) {
      const auto end = std::find_if(
          begin, all.end(), [&](const Instant& instant) { return instant.ns() != begin->ns(); });
      go_through({begin, end});
      begin = end;
    }
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t kNotEntered = INT64_MIN;

  struct Process {
    bool began = false, ended = false;
    Both left;    // the last call that was left
    Both serial;  // the last serial call: its end, and when it was entered, as recorded
    std::int64_t serial_entered_ns = 0;
  };

  const Call& call(std::int32_t index) const { return calls_[static_cast<std::size_t>(index)]; }

  static bool has_end(const Call& call) { return call.end_ns >= call.start_ns; }

  void add_member(const Dependency& one) {
    if (one.kind == DependencyKind::lower_rank) below_.emplace_back(one.begun, one.on);
    if (one.kind != DependencyKind::operation || one.operation < 0) return;
    const auto operation = static_cast<std::size_t>(one.operation);
    if (operation >= operations_.size()) operations_.resize(operation + 1);
    ++operations_[operation].members;
    enters_.emplace_back(one.begun, one.operation);
  }

  // The start and end of each call.
  std::vector<Instant> instants() const {
    std::vector<Instant> all;
    all.reserve(2 * calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Call& one = calls_[i];
      if (one.start_ns < 0) continue;
      const auto number = static_cast<std::uint32_t>(i);
      const std::uint32_t line = lines_.of(one);
      all.emplace_back(one.start_ns, line, true, number, false);
      if (!has_end(one)) continue;
      all.emplace_back(one.end_ns, line, one.start_ns == one.end_ns, number, true);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  void go(const Instant& instant) {
    instant.is_end() ? leave(instant.call()) : enter(instant.call());
  }

  bool can_go(const Instant& instant) const {
    if (!instant.is_end()) return true;
    const std::span<const Dependency> all = dependencies_of(instant.call());
    return std::all_of(all.begin(), all.end(),
                       [&](const Dependency& on) { return entry_of(on).known(); });
  }

  // Processes instants of one time. The last rank may enter a barrier at the instant at which the
  // others leave it: so each line goes on as far as it can, and if none can, all go on by one end.
  void go_through(std::span<const Instant> instants) {
    if (instants.size() == 1) return go(instants.front());
    std::vector<std::span<const Instant>> chains;
    for (std::size_t begin = 0, i = 1; i <= instants.size(); ++i) {
      if (i < instants.size() && instants[i].line() == instants[begin].line()) continue;
      chains.push_back(instants.subspan(begin, i - begin));
      begin = i;
    }
    while (!chains.empty()) {
      bool any = chains.size() == 1;  // nobody else decides
      for (auto& chain : chains) {
        while (!chain.empty() && (chains.size() == 1 || can_go(chain.front()))) {
          go(chain.front());
          chain = chain.subspan(1);
          any = true;
        }
      }
      std::erase_if(chains, [](const auto& chain) { return chain.empty(); });
      if (any) continue;
      for (auto& chain : chains) {
        go(chain.front());
        chain = chain.subspan(1);
      }
      std::erase_if(chains, [](const auto& chain) { return chain.empty(); });
    }
  }

  Both& now_of(const Call& call) { return now_[lines_.of(call)]; }

  // Processes begin when they did, in a call.
  void begin(const Call& in, std::int64_t at_ns) {
    const Both now = {at_ns, at_ns};
    processes_[in.process] = {true, false, now, now, at_ns};
    now_of(in) = now;
    result_.processes[in.process] = {true, at_ns, at_ns, 0};
  }

  // The latest thing that the thread waited for before entering the call, except its computing.
  Both comes_from(std::int32_t index) {
    const Call& one = call(index);
    const Process& process = processes_[one.process];
    Both from = now_of(one);
    if (!lines_.has_several(one.process)) return from;
    if (!from.known() || from.recorded_ns < process.serial_entered_ns) from = process.serial;
    if (one.serial) from.wait_for(process.left);
    for (const Dependency& on : dependencies_of(index)) {
      if (on.begun < 0 || call(on.begun).process != one.process) continue;
      from.wait_for(entry_of_call(on.begun));
    }
    return from;
  }

  void enter(std::int32_t index) {
    const Call& one = call(index);
    Process& process = processes_[one.process];
    ProcessTimes& times = result_.processes[one.process];
    Both& now = now_of(one);
    if (process.ended) return;
    if (!process.began) {
      begin(one, one.start_ns);
    } else {
      const Both from = comes_from(index);
      const std::int64_t ns =
          times_.computing_ns({one.process, one.lane, from.recorded_ns, one.start_ns, index});
      now = {one.start_ns, later(from.replayed_ns, ns)};
      if (has_end(one)) times.computing_ns = later(times.computing_ns, ns);
    }
    entered_ns_[static_cast<std::size_t>(index)] = now.replayed_ns;
    auto enters = std::lower_bound(enters_.begin(), enters_.end(), std::pair(index, INT32_MIN));
    for (; enters != enters_.end() && enters->first == index; ++enters) {
      Operation& operation = operations_[static_cast<std::size_t>(enters->second)];
      operation.last.wait_for(now);
      ++operation.entered;
    }
    const bool is_of_run = has_end(one) && one.part != Part::start_of_mpi;
    if (is_of_run || one.part == Part::end_of_mpi) {
      times.end_ns = std::max(times.end_ns, now.replayed_ns);
    }
  }

  void leave(std::int32_t index) {
    const Call& one = call(index);
    Process& process = processes_[one.process];
    process.ended = process.ended || one.part == Part::end_of_mpi;
    if (process.ended) return;
    if (one.part == Part::start_of_mpi) return begin(one, one.end_ns);
    ++result_.calls;
    Both& now = now_of(one);
    Both ready = now;  // except messages whose time is changed
    std::int64_t recorded_ns = ready.recorded_ns;
    std::int64_t arrived_ns = INT64_MIN;
    // Its other waits take as long as recorded: the call keeps its length.
    const bool keeps_length = times_.waits_for_unknown(index);
    bool waits_as_it_did = keeps_length;
    for (const Dependency& on : dependencies_of(index)) {
      const Both entry = entry_of(on);
      if (!entry.known() || entry.recorded_ns > one.end_ns) {
        const bool has_time = on.on < 0 || call(on.on).start_ns >= 0;
        ++(has_time ? result_.contradicted : result_.unknown);
        waits_as_it_did = true;
        continue;
      }
      ++result_.followed;
      recorded_ns = std::max(recorded_ns, entry.recorded_ns);
      if (const auto way = on.message < 0 ? std::nullopt : times_.way_of(on.message)) {
        arrived_ns = std::max(arrived_ns, later(begun_ns(on, entry, *way), way->ns));
        if (keeps_length) ready.replayed_ns = std::max(ready.replayed_ns, entry.replayed_ns);
      } else {
        ready.replayed_ns = std::max(ready.replayed_ns, entry.replayed_ns);
        waits_as_it_did = true;
      }
    }
    // If a call only waited for such messages, nothing of its recorded time remains.
    const bool is_all_new = arrived_ns != INT64_MIN && !waits_as_it_did;
    const std::int64_t left_ns =
        is_all_new ? 0 : times_.in_call_ns(index, one.end_ns - recorded_ns);
    now = {one.end_ns, std::max(later(ready.replayed_ns, left_ns), arrived_ns)};
    process.left.wait_for(now);
    if (one.serial) {
      process.serial = now;
      process.serial_entered_ns = one.start_ns;
    }
    std::int64_t& end_ns = result_.processes[one.process].end_ns;
    end_ns = std::max(end_ns, now.replayed_ns);
    times_.replayed(index, entered_ns_[static_cast<std::size_t>(index)], now.replayed_ns);
  }

  Both entry_of_call(std::int32_t index) const {
    if (index < 0) return {};
    const std::int64_t ns = entered_ns_[static_cast<std::size_t>(index)];
    return ns == kNotEntered ? Both{} : Both{call(index).start_ns, ns};
  }

  Both entry_of(const Dependency& one) const {
    switch (one.kind) {
      case DependencyKind::operation: {
        if (one.operation < 0) return {};
        const Operation& operation = operations_[static_cast<std::size_t>(one.operation)];
        return operation.entered == operation.members ? operation.last : Both{};
      }
      case DependencyKind::lower_rank:
        return entry_of_lower_ranks(one);
      default:
        return entry_of_call(one.on);
    }
  }

  // The latest entry into a scan of a rank and all below it. Known results are kept: a scan of n
  // ranks costs n.
  Both entry_of_lower_ranks(const Dependency& one) const {
    std::vector<std::int32_t> ranks;
    Both last;
    // There are no more ranks than processes.
    for (std::int32_t rank = one.on; rank >= 0 && ranks.size() < processes_.size();) {
      if (const auto found = up_to_.find(rank); found != up_to_.end()) {
        last = found->second;
        break;
      }
      ranks.push_back(rank);
      const auto below = std::lower_bound(below_.begin(), below_.end(), std::pair(rank, INT32_MIN));
      rank = below != below_.end() && below->first == rank ? below->second : kNoCall;
    }
    for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
      const Both entry = entry_of_call(*rank);
      if (!entry.known()) return {};
      last.wait_for(entry);
      up_to_.emplace(*rank, last);
    }
    return last;
  }

  // When a message starts moving: when its sender began it, and its receiver if it needs both.
  std::int64_t begun_ns(const Dependency& one, const Both& entry, const Times::Way& way) const {
    const Both own = entry_of_call(one.begun);
    const std::int64_t own_ns = own.known() ? own.replayed_ns : entry.replayed_ns;
    if (way.both) return std::max(entry.replayed_ns, own_ns);
    return one.kind == DependencyKind::receiver ? own_ns : entry.replayed_ns;
  }

  std::span<const Dependency> dependencies_of(std::int32_t index) const {
    const auto [first, last] =
        std::equal_range(dependencies_.begin(), dependencies_.end(), Dependency{.call = index},
                         [](const Dependency& a, const Dependency& b) { return a.call < b.call; });
    return {first, last};
  }

  const std::vector<Call>& calls_;
  std::vector<Dependency> dependencies_;  // by call
  Times& times_;
  Lines lines_;
  std::vector<std::int64_t> entered_ns_;  // in the replay, by call
  std::vector<Process> processes_;
  std::vector<Both> now_;  // by line; not known: no call yet
  std::vector<Operation> operations_;
  std::vector<std::pair<std::int32_t, std::int32_t>> enters_;  // calls and their operations
  std::vector<std::pair<std::int32_t, std::int32_t>> below_;   // of a scan: a call, the next lower
  mutable std::unordered_map<std::int32_t, Both> up_to_;       // entries of a rank and those below
  Replayed result_;
};

}  // namespace

Replayed replay(const std::vector<Call>& calls, std::vector<Dependency> dependencies,
                std::size_t processes, Times& times) {
  return Replay(calls, std::move(dependencies), processes, times).run();
}

}  // namespace uctrace::replay
