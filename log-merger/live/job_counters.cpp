#include "log-merger/live/job_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "log-merger/live/came_since.hpp"
#include "log-merger/reports/counter_names.hpp"

namespace uctrace::live {
namespace {

using log::CounterClass;
using log::CounterKey;
using log::CounterKind;
using log::CounterSnapshot;
using log::CounterTotal;

CountedPair rest_of_pair(const CountedPair& pair) { return {.which = pair.which}; }
CountedLabels rest_of_labels(const CountedLabels& labels) {
  return CountedLabels(labels.size(), kOtherLabel);
}

void advance(CounterTotal& before, const CounterTotal& now) {
  before += {came_since(before.messages, now.messages), came_since(before.bytes, now.bytes)};
}

CounterTotal difference(const CounterTotal& now, const CounterTotal& before) {
  return {now.messages - before.messages, now.bytes - before.bytes};
}

constexpr CountedEnd kFirstNamedEnd = CountedPair::kNobody - 1;

// A process with MPI and no rank this long after its start is not inside MPI_Init.
constexpr std::uint64_t kLongestInit_ns = 120'000'000'000;

bool may_get_rank(const CounterSnapshot& process, ProcessState state) {
  const log::CounterPage& page = process.page;
  const std::uint64_t age = page.heartbeat_realtime_ns - page.started_realtime_ns;
  return !process.library.empty() && may_count(state) &&
         (page.heartbeat_realtime_ns <= page.started_realtime_ns || age < kLongestInit_ns);
}

// Copies are refreshed every second; file servers add some delay.
constexpr double kLongestLag_s = 10;

// Known, but without a process: a worker of no process, or a rank of one of several worlds.
bool is_stranger(const log::CountedSides& sides, const log::CountedSide& side) {
  return side.is_known() && side.process < 0 && !sides.is_told_by_rank(side);
}

// A peer whose worker is named later.
bool is_to_be_named(const CounterSnapshot& process, std::uint64_t subject) {
  if (subject < log::kNamedPeer || subject == log::kUnknownPeer) return false;
  return !process.peers.contains(static_cast<std::uint32_t>(subject & (log::kNamedPeer - 1)));
}

// Of what has one.
CounterClass class_of_key(CounterKey key) {
  return log::class_of(log::kind_of(key)).value_or(CounterClass::external);
}

}  // namespace

JobCounters::Sums::Sums(std::size_t most)
    : pairs(most, rest_of_pair),
      transports(most, rest_of_labels),
      gpus(most, rest_of_labels),
      functions(most, rest_of_labels),
      communicators(most, rest_of_labels) {}

JobCounters::JobCounters(std::size_t most_series) : most_series_(most_series), sums_(most_series) {}

void JobCounters::take(const Reading& reading) {
  if (reading.job() != job_) {
    job_ = reading.job();
    started_ = 0;
    processes_.clear();
    names_.clear();
    ends_.clear();
    sums_ = Sums(most_series_);
  }
  waiting_ = {};
  elapsed_s_ += reading.seconds;
  const log::CountedSides sides(reading.now);
  const bool lags = std::any_of(
      reading.processes.begin(), reading.processes.end(),
      [](const LiveProcess& process) { return process.is_copy && may_count(process.state); });
  for (std::size_t i = 0; i < reading.now.size(); ++i) {
    const CounterSnapshot& snapshot = reading.now[i];
    const LiveProcess& process = reading.processes[i];
    // A process that has ended adds no names, and one without room for names may not either.
    const bool is_final = !may_count(process.state) || snapshot.page.lost_names != 0;
    take_process(
        {.reading = reading, .place = i, .sides = sides, .is_final = is_final, .lags = lags},
        processes_[process.number]);
  }
  sums_.pairs.settle();
  for (auto* series : {&sums_.transports, &sums_.gpus, &sums_.functions, &sums_.communicators}) {
    series->settle();
  }
  take_states(reading);
}

void JobCounters::take_states(const Reading& reading) {
  states_ = {};
  lagging_ = 0;
  missing_ranks_ = log::missing_ranks(reading.now).missing;
  for (const LiveProcess& process : reading.processes) {
    ++states_[static_cast<std::size_t>(process.state)];
    lagging_ += process.is_copy;
  }
  for (const CounterSnapshot& snapshot : reading.now) {
    const std::uint64_t started = snapshot.page.started_realtime_ns;
    if (started != 0 && (started_ == 0 || started < started_)) started_ = started;
  }
}

void JobCounters::take_process(const Source& from, Process& known) {
  const CounterSnapshot& snapshot = from.snapshot();
  for (const auto& [key, total] : snapshot.rows) {
    const auto [at, is_new] = known.rows.try_emplace(key);
    Row& row = at->second;
    const CounterTotal before = row.read;
    if (is_new) {
      row.read = total;
    } else {
      advance(row.read, total);
    }
    if (has_sizes(log::kind_of(key))) {
      const CounterTotal read = difference(row.read, before);
      CountedSizes& sizes = sums_.sizes[class_of_key(key)];
      sizes.bins[log::bin_of(key)] += read.messages;
      sizes.total += read;
    }
    const CounterTotal came = difference(row.read, row.told);
    if (came != CounterTotal{} && tell(from, {key, came, row})) row.told = row.read;
  }
  const std::uint64_t unplaced = came_since(known.unplaced, snapshot.unplaced_messages());
  const std::uint64_t lost_names = came_since(known.lost_names, snapshot.page.lost_names);
  known.unplaced += unplaced;
  known.lost_names += lost_names;
  sums_.unplaced += unplaced;
  sums_.lost_names += lost_names;
}

bool JobCounters::tell(const Source& from, const Came& came) {
  const CounterSnapshot& snapshot = from.snapshot();
  const std::uint64_t subject = log::subject_of(came.key);
  const auto is_named = [&](const CounterNames& names) {
    return from.is_final || names.contains(static_cast<std::uint32_t>(subject));
  };
  switch (log::kind_of(came.key)) {
    case CounterKind::external:
    case CounterKind::internal:
    case CounterKind::one_sided_sent:
    case CounterKind::one_sided_received:
    case CounterKind::collective:
      return tell_pair(from, came);
    case CounterKind::collective_each:
      return tell_each(from, came);
    case CounterKind::one_to_all:
    case CounterKind::all_to_one:
    case CounterKind::all_to_all:
      return tell_communicator(from, came);
    case CounterKind::interface: {
      if (!is_named(snapshot.interfaces)) return false;
      const CountedOperation of = counted_operation(snapshot, subject);
      sums_.transports.add({of.transport, of.device, std::string(of.operation)}, came.total);
      return true;
    }
    case CounterKind::mpi_function:
      if (!is_named(snapshot.functions)) return false;
      sums_.functions.add({counted_name(snapshot.functions, subject)}, came.total);
      return true;
    case CounterKind::gpu:
      return tell_gpu(from, came);
  }
  return true;  // of a kind from a newer uctrace
}

bool JobCounters::tell_gpu(const Source& from, const Came& came) {
  const std::uint64_t subject = log::subject_of(came.key);
  const auto number = static_cast<std::uint32_t>(subject);
  if (number != 0 && !from.snapshot().gpus.contains(number) && !from.is_final) return false;
  const CountedData of = counted_data(from.snapshot(), subject);
  const auto known = [](const std::string& text) { return text.empty() ? kUnknownLabel : text; };
  sums_.gpus.add({from.snapshot().host(), known(of.gpu), known(of.bus), std::string(of.memory),
                  std::string(of.data)},
                 came.total);
  return true;
}

bool JobCounters::wait(const Came& came) {
  waiting_[static_cast<std::size_t>(class_of_key(came.key))] += came.total;
  return false;
}

void JobCounters::note_stranger(Row& row, bool is_there) const {
  if (!is_there) {
    row.stranger_since_s.reset();
  } else if (!row.stranger_since_s) {
    row.stranger_since_s = elapsed_s_;
  }
}

// Its process has no rank yet, or is not there: this may change at the next reading.
bool JobCounters::may_be_told_better(const Source& from, const log::CountedSide& side,
                                     const Row& row) const {
  if (side.process >= 0) {
    const auto place = static_cast<std::size_t>(side.process);
    return side.rank < 0 &&
           may_get_rank(from.reading.now[place], from.reading.processes[place].state);
  }
  if (!is_stranger(from.sides, side) || !from.reading.counts()) return false;
  const double waited_s = row.stranger_since_s ? elapsed_s_ - *row.stranger_since_s : -1;
  return waited_s < 0 || (from.lags && waited_s < kLongestLag_s);
}

bool JobCounters::tell_pair(const Source& from, const Came& came) {
  const std::uint64_t subject = log::subject_of(came.key);
  const log::CountedSide self = from.sides.of(from.place);
  const log::CountedSide peer = from.sides.peer(from.place, subject);
  const bool waits = may_be_told_better(from, self, came.row) ||
                     may_be_told_better(from, peer, came.row) ||
                     (is_to_be_named(from.snapshot(), subject) && !from.is_final);
  note_stranger(came.row, is_stranger(from.sides, peer));
  if (waits) return wait(came);
  sums_.pairs.add(
      {.which = class_of_key(came.key), .rank = end_of(from, self), .peer = end_of(from, peer)},
      came.total);
  return true;
}

// Each other member of the communicator gets the same amount.
bool JobCounters::tell_each(const Source& from, const Came& came) {
  const std::uint64_t comm = log::subject_of(came.key);
  const log::CountedSide self = from.sides.of(from.place);
  const bool is_named = from.snapshot().communicators.contains(static_cast<std::uint32_t>(comm));
  if ((!is_named || self.rank < 0) && !from.is_final) return wait(came);
  const std::vector<log::CountedSide> others = from.sides.others(from.place, comm);
  bool waits = false, has_stranger = false;
  for (const log::CountedSide& member : others) {
    waits = waits || may_be_told_better(from, member, came.row);
    has_stranger = has_stranger || is_stranger(from.sides, member);
  }
  note_stranger(came.row, has_stranger);
  if (waits) return wait(came);
  CountedPair pair = {.which = CounterClass::collective, .rank = end_of(from, self)};
  for (const log::CountedSide& member : others) {
    pair.peer = end_of(from, member);
    sums_.pairs.add(pair, came.total);
  }
  return true;
}

CountedEnd JobCounters::end_of(const Source& from, const log::CountedSide& side) {
  if (!side.is_known()) return CountedPair::kNobody;
  const auto told_now = [&] {
    return from.sides.is_told_by_rank(side) ? side.rank : end_with_name(from.sides.label(side));
  };
  if (side.process < 0 || side.rank < 0) return told_now();
  const auto place = static_cast<std::size_t>(side.process);
  Process& process = processes_[from.reading.processes[place].number];
  if (!process.end) process.end = told_now();
  return *process.end;
}

CountedEnd JobCounters::end_with_name(const std::string& name) {
  const auto [found, is_new] =
      ends_.try_emplace(name, kFirstNamedEnd - static_cast<CountedEnd>(names_.size()));
  if (is_new) names_.push_back(name);
  return found->second;
}

std::string JobCounters::name_of(CountedEnd end) const {
  if (end >= 0) return std::to_string(end);
  if (end == CountedPair::kOther) return kOtherLabel;
  if (end == CountedPair::kNobody) return kUnknownLabel;
  return names_[static_cast<std::size_t>(kFirstNamedEnd - end)];
}

bool JobCounters::tell_communicator(const Source& from, const Came& came) {
  const auto& comms = from.snapshot().communicators;
  const auto comm = comms.find(static_cast<std::uint32_t>(log::subject_of(came.key)));
  const bool is_known = comm != comms.end();
  if (!is_known && !from.is_final) return false;
  // The number of an unnamed communicator means a different one in each process.
  const bool has_name = is_known && !comm->second.label.empty();
  sums_.communicators.add({has_name ? comm->second.label : kUnnamedCommunicator,
                           is_known ? fmt::format("{}", comm->second.size) : kUnknownLabel,
                           std::string(collective_name(log::kind_of(came.key)))},
                          came.total);
  return true;
}

}  // namespace uctrace::live
