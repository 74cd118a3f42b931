// All counts of a job as sums by label that never decrease: for readers that take differences, such
// as Prometheus.
//
//   JobCounters counters(10'000);
//   counters.take(*folder.jobs().front());     // after each LiveFolder::read()
//
// The increase of each process since its last reading (modulo 2^64) is added to the sums of its
// present labels; a rank keeps its first one. So a name that comes later does not reduce a sum.
// Counts without a name or rank wait for it until their process ends, and are in no sum of these
// labels until then. Counts for a peer without a process yet wait for one reading: a worker is
// named in its process's file before anybody can connect to it, and a rank before anybody can send
// to it. While files are copies, which lag, they wait for some seconds.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "event-log/reader/counted_sides.hpp"
#include "event-log/reader/counter_matrix.hpp"
#include "log-merger/live/limited_series.hpp"
#include "log-merger/live/live_folder.hpp"

namespace uctrace::live {

// An end of a pair is a rank or, below kNobody, a side that JobCounters::name_of() names.
using CountedEnd = std::int32_t;
struct CountedPair {
  log::CounterClass which = log::CounterClass::external;
  CountedEnd rank = kOther, peer = kOther;

  static constexpr CountedEnd kOther = -1;   // for all pairs without a series of their own
  static constexpr CountedEnd kNobody = -2;  // a peer that could not be named
  auto operator<=>(const CountedPair&) const = default;
};
using CountedLabels = std::vector<std::string>;
inline constexpr const char* kOtherLabel = "other";
inline constexpr const char* kUnknownLabel = "unknown";
inline constexpr const char* kUnnamedCommunicator = "unnamed";

struct CountedSizes {
  std::array<unsigned __int128, log::kSizeBins> bins{};  // messages
  ExactTotal total;
};

class JobCounters {
 public:
  // At most `most_series` pairs, communicators, ... get their own series.
  explicit JobCounters(std::size_t most_series);

  // If the job of `reading` is a new one, everything begins anew.
  void take(const Reading& reading);

  bool has_job() const { return !processes_.empty(); }  // there was one in the folder
  const std::string& job() const { return job_; }
  std::uint64_t started_realtime_ns() const { return started_; }  // the first process; 0: not known

  const LimitedSeries<CountedPair>& pairs() const { return sums_.pairs; }
  std::string name_of(CountedEnd end) const;  // as CountedSides::label(), "other" or "unknown"
  const std::map<log::CounterClass, CountedSizes>& sizes() const { return sums_.sizes; }
  // transport, device, operation
  const LimitedSeries<CountedLabels>& transports() const { return sums_.transports; }
  // host, gpu, bus, memory, data
  const LimitedSeries<CountedLabels>& gpus() const { return sums_.gpus; }
  const LimitedSeries<CountedLabels>& functions() const { return sums_.functions; }
  // name, size, kind
  const LimitedSeries<CountedLabels>& communicators() const { return sums_.communicators; }
  unsigned __int128 unplaced() const { return sums_.unplaced; }
  unsigned __int128 lost_names() const { return sums_.lost_names; }

  // At the last reading; these may also decrease.
  using ByClass = std::array<ExactTotal, log::kCounterClasses>;
  const ByClass& waiting() const { return waiting_; }  // for the rank of the sender or the peer
  std::size_t processes_in(ProcessState state) const {
    return states_[static_cast<std::size_t>(state)];
  }
  std::size_t lagging() const { return lagging_; }              // processes whose file is a copy
  std::size_t missing_ranks() const { return missing_ranks_; }  // without counters

 private:
  struct Sums {
    explicit Sums(std::size_t most);
    LimitedSeries<CountedPair> pairs;
    LimitedSeries<CountedLabels> transports, gpus, functions, communicators;
    std::map<log::CounterClass, CountedSizes> sizes;
    unsigned __int128 unplaced = 0, lost_names = 0;
  };
  // How far a row of a process was read, and how much of it is in the sums of its labels.
  struct Row {
    log::CounterTotal read, told;
    // Since when readings have found no process of the peer, on the clock of `elapsed_s_`.
    std::optional<double> stranger_since_s;
  };
  struct Process {
    std::unordered_map<log::CounterKey, Row> rows;
    std::uint64_t unplaced = 0, lost_names = 0;
    // The first reported identity of its rank: it stays, even if another world has the rank later.
    std::optional<CountedEnd> end;
  };

  // A process while its rows are read.
  struct Source {
    const Reading& reading;
    std::size_t place;  // of the process in it
    const log::CountedSides& sides;
    bool is_final;  // it names nothing any more
    bool lags;      // files of the job are copies

    const log::CounterSnapshot& snapshot() const { return reading.now[place]; }
  };
  // What came in one of its rows.
  struct Came {
    log::CounterKey key;
    log::CounterTotal total;
    Row& row;
  };

  void take_process(const Source& from, Process& known);
  void take_states(const Reading& reading);
  // Adds the increase to the sums of its labels. False: it must wait for them.
  bool tell(const Source& from, const Came& came);
  bool tell_pair(const Source& from, const Came& came);
  bool tell_each(const Source& from, const Came& came);
  bool tell_gpu(const Source& from, const Came& came);
  bool tell_communicator(const Source& from, const Came& came);
  bool wait(const Came& came);
  bool may_be_told_better(const Source& from, const log::CountedSide& side, const Row& row) const;
  void note_stranger(Row& row, bool is_there) const;
  CountedEnd end_of(const Source& from, const log::CountedSide& side);
  CountedEnd end_with_name(const std::string& name);

  const std::size_t most_series_;
  std::string job_;
  std::uint64_t started_ = 0;
  double elapsed_s_ = 0;                                  // between the readings so far
  std::unordered_map<std::uint64_t, Process> processes_;  // by LiveProcess::number
  std::vector<std::string> names_;                        // of ends that are no ranks
  std::unordered_map<std::string, CountedEnd> ends_;      // by these names
  Sums sums_;
  ByClass waiting_{};
  std::array<std::size_t, std::size(kProcessStates)> states_{};
  std::size_t lagging_ = 0, missing_ranks_ = 0;
};

}  // namespace uctrace::live
