// What would have been otherwise, as users ask for it. docs/simulate.md says what each means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uctrace {

// Divides by `factor` the time of what is named.
struct Faster {
  // "compute", an MPI function, or a call site, or the function of one: then what is computed
  // before calls there.
  std::string what;
  std::vector<std::string> ranks;  // empty: all
  double factor = 1;               // > 1 is faster
  std::string asked;               // as it was typed
};

// Over what computing is evened out.
enum class Balance : std::uint8_t {
  none,
  run,     // each rank computes as long as the mean of all, over the whole run
  phases,  // the same between two operations that synchronise all ranks
  ranks,   // as `run`, of some ranks; the others compute as they did
};

// By whose work partitions become ready evenly.
enum class EvenPartitions : std::uint8_t {
  no,
  threads,     // of each recording thread, which makes its partitions ready one after the other
  partitions,  // each partition is made ready by a thread of its own
};

// What messages over a transport take: latency + bytes / bandwidth.
struct NetworkChange {
  std::string transport;  // as UCT names it; "all": every message
  std::uint64_t latency_ns = 0;
  std::uint64_t bytes_per_s = 1;
};

struct Hypotheses {
  std::vector<Faster> faster;
  Balance balance = Balance::none;
  std::vector<std::string> balanced_ranks;  // of Balance::ranks
  std::vector<NetworkChange> network;       // the first one that fits a message is taken
  EvenPartitions even_partitions = EvenPartitions::no;

  bool any() const {
    return !faster.empty() || balance != Balance::none || !network.empty() ||
           even_partitions != EvenPartitions::no;
  }
};

// FACTOR is within these, so that no time of a run grows beyond what can be told.
inline constexpr double kLeastFactor = 0.001, kGreatestFactor = 1e9;
// Of --network.
inline constexpr std::uint64_t kGreatestLatencyNs = 1'000'000'000'000;

}  // namespace uctrace
