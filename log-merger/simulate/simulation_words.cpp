#include "log-merger/simulate/simulation_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "log-merger/model/durations.hpp"
#include "log-merger/model/quantities.hpp"

namespace uctrace {

namespace {

std::string rate(std::uint64_t bytes_per_s) { return format_bytes(bytes_per_s) + "/s"; }

std::string messages_of(const NetworkChange& change) {
  return change.transport == "all" ? "all messages"
                                   : fmt::format("messages over {}", change.transport);
}

std::string ranks_in_words(const std::vector<std::string>& ranks) {
  if (ranks.empty()) return "all ranks";
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

std::string balance_in_words(const Hypotheses& hypotheses, std::size_t phases) {
  switch (hypotheses.balance) {
    case Balance::none:
      break;
    case Balance::run:
      return "every rank computes as long as the mean of all ranks, over the whole run";
    case Balance::phases:
      return fmt::format(
          "every rank computes as long as the mean of all ranks, in each of {} phases between "
          "operations that synchronise all ranks",
          phases);
    case Balance::ranks:
      return fmt::format("{}: computing takes as long as the mean of all ranks, over the whole run",
                         ranks_in_words(hypotheses.balanced_ranks));
  }
  return {};
}

std::string faster_in_words(const Faster& one, std::uint64_t calls) {
  const char* const kind = one.what == "compute"          ? "computing"
                           : one.what.starts_with("MPI_") ? "the own time of its calls"
                                                          : "computing before its calls";
  return fmt::format("{}, {}: {} takes 1/{} of its time ({} calls)", one.what,
                     ranks_in_words(one.ranks), kind, one.factor, calls);
}

// How many receives, and uses of partitions, were found by tests.
std::uint64_t found_by_tests(const Run& run, const RecordedCalls& recorded) {
  std::map<TextId, bool> tests;
  std::uint64_t count = 0;
  for (const replay::Dependency& one : recorded.dependencies) {
    if (one.call < 0) continue;
    const TextId function = recorded.functions[static_cast<std::size_t>(one.call)];
    const auto [is_test, fresh] = tests.try_emplace(function, false);
    if (fresh) {
      const std::string& name = run.texts[function];
      is_test->second = name.starts_with("MPI_Test") || name == "MPI_Request_get_status";
    }
    count += is_test->second ? 1 : 0;
  }
  return count;
}

void add_unknown_waits(const RowSource& source, std::vector<NotReplayed>& rows) {
  std::map<WaitUnknown, NotReplayed> unknown;
  const Wanted<Wait> wanted = {&Wait::unknown, &Wait::unknown_ns};
  for_each_row(source, wanted, [&](const Wait& wait, std::size_t) {
    // Where only the clocks are in doubt it is known what the call depended on.
    if (wait.unknown == WaitUnknown::none || wait.unknown == WaitUnknown::below_clock_bound ||
        wait.unknown == WaitUnknown::clocks) {
      return;
    }
    NotReplayed& row = unknown[wait.unknown];
    ++row.count;
    row.ns = std::max<std::int64_t>(0, row.ns);
    add_ns(row.ns, wait.unknown_ns);
  });
  for (auto& [reason, row] : unknown) {
    row.what =
        fmt::format("calls of which it is not known what they waited for ({})", name_of(reason));
    rows.push_back(row);
  }
}

}  // namespace

std::vector<std::string> hypotheses_in_words(const Hypotheses& hypotheses,
                                             const ChangedTimes& times) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < hypotheses.faster.size(); ++i) {
    words.push_back(faster_in_words(hypotheses.faster[i], times.calls_of_faster()[i]));
  }
  if (hypotheses.even_partitions != EvenPartitions::no) {
    const EvenedPartitions& found = times.partitions();
    words.push_back(fmt::format(
        "{} in {} of {} uses of a partitioned send",
        hypotheses.even_partitions == EvenPartitions::threads
            ? "the threads of a sender make their last partitions ready at the mean of their times,"
            : "the partitions of a sender become ready at the mean of their times,",
        found.uses - found.alone - found.unknown, found.uses));
  }
  const std::string balance = balance_in_words(hypotheses, times.phases());
  if (!balance.empty()) words.push_back(balance);
  for (std::size_t i = 0; i < hypotheses.network.size(); ++i) {
    const NetworkChange& change = hypotheses.network[i];
    const MessageCount& changed = times.network().changed[i];
    words.push_back(fmt::format("{} take {} + their length at {} ({} messages, {})",
                                messages_of(change), format_duration(change.latency_ns),
                                rate(change.bytes_per_s), changed.messages,
                                format_bytes(changed.bytes)));
  }
  return words;
}

std::vector<std::string> assumptions_of(const RecordedCalls& recorded,
                                        const Hypotheses& hypotheses) {
  std::vector<std::string> words = {
      "what each call depends on, which message each receive takes, and the order of calls stay as "
      "they were",
      "a call takes, from when the last of what it depends on was there, as long as it did; a "
      "message that had come before its receive needs no more time where it comes later",
      "a loop that polls (MPI_Test, MPI_Parrived) keeps its length, but ends no earlier than what "
      "it finds was begun"};
  if (!hypotheses.network.empty()) {
    words.push_back(
        "latency and bandwidth include all that the libraries do; messages do not share the "
        "bandwidth; collective operations take as long as they did");
  }
  if (!hypotheses.faster.empty() || hypotheses.balance != Balance::none ||
      hypotheses.even_partitions != EvenPartitions::no) {
    words.push_back(
        "computing is all time outside of MPI, and is none the slower for what else runs");
  }
  if (recorded.ranks_without_calls > 0) {
    words.push_back(fmt::format("calls of {} ranks were not recorded; their time is computing",
                                recorded.ranks_without_calls));
  }
  if (recorded.threads.calls > 0) {
    words.push_back(fmt::format(
        "each thread that calls MPI goes on by itself; of the {} calls of ranks with several "
        "threads, {} are taken to be serial (a heuristic): they begin after all earlier calls of "
        "the rank, and idle threads go on from their end",
        recorded.threads.calls, recorded.threads.serial));
    words.push_back(
        "locks, barriers and joins of threads elsewhere are not known: time in them is computing");
  }
  return words;
}

std::vector<NotReplayed> not_replayed(const RowSource& source, const RecordedCalls& recorded,
                                      const replay::Replayed& replayed,
                                      const Hypotheses& hypotheses, const ChangedTimes& times) {
  std::vector<NotReplayed> rows;
  const auto add = [&](std::string what, std::uint64_t count) {
    if (count > 0) rows.push_back({std::move(what), count, -1});
  };
  add_unknown_waits(source, rows);
  add("dependencies that the clocks contradict", replayed.contradicted);
  add("dependencies on calls of which the times are not known", replayed.unknown);
  add("messages and operations that tests found", found_by_tests(source.run(), recorded));
  for (std::size_t i = 0; i < hypotheses.network.size(); ++i) {
    add(messages_of(hypotheses.network[i]) + " that no call waited for alone, as far as is known",
        times.network().kept[i].messages);
  }
  add("uses of a partitioned send by one thread, or of one partition", times.partitions().alone);
  add("uses of a partitioned send of which not all partitions are known to have become ready",
      times.partitions().unknown);
  return rows;
}

}  // namespace uctrace
