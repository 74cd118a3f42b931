// Partitions that become ready evenly: the work before them is divided among the threads that make
// them ready. Private to the simulation.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/simulate/hypotheses.hpp"

namespace uctrace {

// A time span of one thread; its computing takes `factor` of its time.
struct EvenedSpan {
  std::int64_t from_ns = 0, to_ns = 0;
  double factor = 1;
};

struct EvenedPartitions {
  // By process and lane, then time; they do not overlap.
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<EvenedSpan>> spans;
  std::uint64_t uses = 0;     // of partitioned sends
  std::uint64_t alone = 0;    // of these: by one thread, or with one partition
  std::uint64_t unknown = 0;  // of these: not all partitions became ready
};

// For each use of a partitioned send, from its start (entry of MPI_Start) on: thread i makes its
// last partition ready after r_i; by EvenPartitions::partitions, partition i becomes ready then.
// Instead, all become ready after the mean of r_i: the computing of thread i from the start to its
// last partition, after l_i, takes mean(r_i) / l_i of its time. Overlapping uses on one thread form
// one span with the largest of their factors.
EvenedPartitions evened_partitions(const RowSource& source, EvenPartitions by);

// The new time of the computing in [from, to).
std::int64_t evened_ns(const std::vector<EvenedSpan>& spans, std::int64_t from_ns,
                       std::int64_t to_ns);

}  // namespace uctrace
