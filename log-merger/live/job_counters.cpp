#include "log-merger/live/job_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

// Lists of members may be damaged, or name processes of other worlds.
std::int32_t rank_or_nobody(std::int32_t rank) { return rank < 0 ? CountedPair::kNobody : rank; }

// Without MPI and launcher no process gets a rank.
bool may_have_ranks(const CounterSnapshot& process) {
  return process.page.launch_size != 0 || !process.library.empty();
}

// A peer whose worker is told later. Of one that is known by a socket address alone, none is.
bool may_be_named(const CounterSnapshot& process, std::uint64_t subject) {
  if (subject < log::kNamedPeer || subject == log::kUnknownPeer) return false;
  const auto peer = process.peers.find(static_cast<std::uint32_t>(subject & (log::kNamedPeer - 1)));
  return peer == process.peers.end() || peer->second != 0;
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
    sums_ = Sums(most_series_);
  }
  waiting_ = {};
  const log::CounterPeers peers(reading.now);
  for (std::size_t i = 0; i < reading.now.size(); ++i) {
    const CounterSnapshot& snapshot = reading.now[i];
    const LiveProcess& process = reading.processes[i];
    // One that has ended names nothing any more, and one that has no room for names may not.
    const bool is_final = !may_count(process.state) || snapshot.page.lost_names != 0;
    take_process({.snapshot = snapshot, .peers = peers, .is_final = is_final},
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
  const CounterSnapshot& snapshot = from.snapshot;
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
    if (came != CounterTotal{} && tell(from, key, came)) row.told = row.read;
  }
  const std::uint64_t unplaced = came_since(known.unplaced, snapshot.unplaced_messages());
  const std::uint64_t lost_names = came_since(known.lost_names, snapshot.page.lost_names);
  known.unplaced += unplaced;
  known.lost_names += lost_names;
  sums_.unplaced += unplaced;
  sums_.lost_names += lost_names;
}

bool JobCounters::tell(const Source& from, CounterKey key, const CounterTotal& came) {
  const CounterSnapshot& snapshot = from.snapshot;
  const std::uint64_t subject = log::subject_of(key);
  const auto is_named = [&](const CounterNames& names) {
    return from.is_final || names.contains(static_cast<std::uint32_t>(subject));
  };
  switch (log::kind_of(key)) {
    case CounterKind::external:
    case CounterKind::internal:
    case CounterKind::one_sided_sent:
    case CounterKind::one_sided_received:
    case CounterKind::collective:
      return tell_pair(from, key, came);
    case CounterKind::collective_each:
      return tell_each(from, key, came);
    case CounterKind::one_to_all:
    case CounterKind::all_to_one:
    case CounterKind::all_to_all:
      return tell_communicator(from, key, came);
    case CounterKind::interface: {
      if (!is_named(snapshot.interfaces)) return false;
      const CountedOperation of = counted_operation(snapshot, subject);
      sums_.transports.add({of.transport, of.device, std::string(of.operation)}, came);
      return true;
    }
    case CounterKind::mpi_function:
      if (!is_named(snapshot.functions)) return false;
      sums_.functions.add({counted_name(snapshot.functions, subject)}, came);
      return true;
    case CounterKind::gpu:
      return tell_gpu(from, key, came);
  }
  return true;  // of a kind that a newer uctrace made
}

bool JobCounters::tell_gpu(const Source& from, CounterKey key, const CounterTotal& came) {
  const std::uint64_t subject = log::subject_of(key);
  const auto number = static_cast<std::uint32_t>(subject);
  if (number != 0 && !from.snapshot.gpus.contains(number) && !from.is_final) return false;
  const CountedData of = counted_data(from.snapshot, subject);
  const auto known = [](const std::string& text) { return text.empty() ? kUnknownLabel : text; };
  sums_.gpus.add({from.snapshot.host(), known(of.gpu), known(of.bus), std::string(of.memory),
                  std::string(of.data)},
                 came);
  return true;
}

bool JobCounters::wait(CounterKey key, const CounterTotal& came) {
  waiting_[static_cast<std::size_t>(class_of_key(key))] += came;
  return false;
}

bool JobCounters::tell_pair(const Source& from, CounterKey key, const CounterTotal& came) {
  const std::uint64_t subject = log::subject_of(key);
  const std::optional<std::int32_t> peer = from.peers.rank_of(from.snapshot, subject);
  const std::int32_t rank = from.snapshot.rank();
  const bool may_get_rank = rank < 0 || (!peer && may_be_named(from.snapshot, subject));
  if (may_get_rank && may_have_ranks(from.snapshot) && !from.is_final) return wait(key, came);
  sums_.pairs.add({.which = class_of_key(key),
                   .rank = rank_or_nobody(rank),
                   .peer = rank_or_nobody(peer.value_or(CountedPair::kNobody))},
                  came);
  return true;
}

// Each other member of the communicator gets as much.
bool JobCounters::tell_each(const Source& from, CounterKey key, const CounterTotal& came) {
  const auto& comms = from.snapshot.communicators;
  const auto comm = comms.find(static_cast<std::uint32_t>(log::subject_of(key)));
  const std::int32_t rank = from.snapshot.rank();
  if ((comm == comms.end() || rank < 0) && !from.is_final) return wait(key, came);
  CountedPair pair = {.which = CounterClass::collective,
                      .rank = rank_or_nobody(rank),
                      .peer = CountedPair::kNobody};
  if (comm == comms.end() || !comm->second.members_known || rank < 0) {
    sums_.pairs.add(pair, came);
    return true;
  }
  for (const std::int32_t member : comm->second.others(rank)) {
    pair.peer = rank_or_nobody(member);
    sums_.pairs.add(pair, came);
  }
  return true;
}

bool JobCounters::tell_communicator(const Source& from, CounterKey key, const CounterTotal& came) {
  const auto& comms = from.snapshot.communicators;
  const auto comm = comms.find(static_cast<std::uint32_t>(log::subject_of(key)));
  const bool is_known = comm != comms.end();
  if (!is_known && !from.is_final) return false;
  // The number of one without a name means another one in each process.
  const bool has_name = is_known && !comm->second.label.empty();
  sums_.communicators.add({has_name ? comm->second.label : kUnnamedCommunicator,
                           is_known ? fmt::format("{}", comm->second.size) : kUnknownLabel,
                           std::string(collective_name(log::kind_of(key)))},
                          came);
  return true;
}

}  // namespace uctrace::live
