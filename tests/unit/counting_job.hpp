// A job of counters that is made up reading by reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "log-merger/live/job_counters.hpp"

namespace uctrace::live::test {

inline constexpr std::size_t kAll = 1'000'000;  // series
inline constexpr std::int32_t kRanks = 5;

struct Job {
  Reading reading;

  log::CounterSnapshot& add(std::int32_t rank, std::uint64_t number) {
    log::CounterSnapshot process;
    process.page.world_rank = rank;
    process.page.world_size = kRanks;
    process.library = "an MPI";
    process.workers = {1000 + number};
    reading.now.push_back(process);
    reading.processes.push_back({.number = number, .before = {}});
    name("job");
    return reading.now.back();
  }
  void name(const std::string& job) {
    for (auto& process : reading.now) process.page.job[job.copy(process.page.job, 63)] = 0;
  }
};

inline log::CounterKey to_rank(log::CounterKind kind, std::uint64_t bytes, std::int32_t peer) {
  return log::counter_key(kind, log::size_bin(bytes), static_cast<std::uint64_t>(peer));
}
inline log::CounterKey to_peer(std::uint32_t number) {
  return log::counter_key(log::CounterKind::internal, 4, log::kNamedPeer | number);
}

}  // namespace uctrace::live::test
