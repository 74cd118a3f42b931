// The hypotheses of users. docs/simulate.md explains each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uctrace {

// Divides the named time by `factor`.
struct Faster {
  // "compute", an MPI function, or a call site or its function: then the computing before calls
  // there.
  std::string what;
  std::vector<std::string> ranks;  // empty: all
  double factor = 1;               // > 1 is faster
  std::string asked;               // as it was typed
};

// How computing is balanced.
enum class Balance : std::uint8_t {
  none,
  run,     // each rank computes as long as the mean of all, over the whole run
  phases,  // the same between two operations that synchronise all ranks
  ranks,   // as `run`, of some ranks; the others compute as they did
};

// How partitions become ready evenly.
enum class EvenPartitions : std::uint8_t {
  no,
  threads,     // of each recording thread, which makes its partitions ready one after the other
  partitions,  // each partition is made ready by its own thread
};

// The time of messages over a transport: latency + bytes / bandwidth.
struct NetworkChange {
  std::string transport;  // as UCT names it; "all": every message
  std::uint64_t latency_ns = 0;
  std::uint64_t bytes_per_s = 1;
};

struct Hypotheses {
  std::vector<Faster> faster;
  Balance balance = Balance::none;
  std::vector<std::string> balanced_ranks;  // of Balance::ranks
  std::vector<NetworkChange> network;       // the first one that fits a message applies
  EvenPartitions even_partitions = EvenPartitions::no;

  bool any() const {
    return !faster.empty() || balance != Balance::none || !network.empty() ||
           even_partitions != EvenPartitions::no;
  }
};

// Limits of FACTOR, so that times cannot overflow.
inline constexpr double kLeastFactor = 0.001, kGreatestFactor = 1e9;
// Of --network.
inline constexpr std::uint64_t kGreatestLatencyNs = 1'000'000'000'000;

}  // namespace uctrace
