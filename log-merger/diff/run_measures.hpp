// The measures of one run that `uctrace diff` compares, under names that another run has, too.
// Counts come from sums, durations of single calls, waits and messages from one pass over each
// table. Memory grows with the kinds of calls, waits and messages, not with their number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "log-merger/diff/spread.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace::diff {

// The whole that a number is a share of. `asked`: the bytes by the arguments of MPI calls.
enum class Whole : std::uint8_t { time, message_time, payload, asked, messages, transfers, calls };
inline constexpr std::size_t kWholes = 7;

// "transport", "tcp", "payload".
struct Subject {
  std::string of, name, measure;
  auto operator<=>(const Subject&) const = default;
};

struct Measured {
  Whole whole = Whole::time;
  double value = 0;  // bytes, nanoseconds, or how many
  Band band;         // of times
};

// A setting, and which ranks have which value of it.
struct RunSetting {
  struct Value {
    std::optional<std::string> value;  // nullopt: not set
    std::vector<std::int64_t> ranks;   // empty: all of the run
  };
  std::string name;
  std::vector<Value> values;
};

struct ProtocolSize {
  std::string protocol;
  std::uint8_t size = 0;  // size_class() of the messages
  auto operator<=>(const ProtocolSize&) const = default;
};
struct ProtocolSizeTotal {
  std::uint64_t messages = 0, bytes = 0;
  Spread times;  // of messages with known start and end
};

struct RunMeasures {
  std::string run_id, command;
  std::size_t ranks = 0, hosts = 0;
  std::vector<RunSetting> settings;
  std::map<Subject, Measured> subjects;
  double wholes[kWholes] = {};
  std::map<ProtocolSize, ProtocolSizeTotal> protocols;
  // Whether MPI calls, and the transfers of their data, were recorded at all.
  bool has_calls = false, has_messages = false, has_hops = false;
  bool has_pairs = true;            // false for a run with too many pairs
  std::vector<std::string> doubts;  // reasons why its numbers may be incomplete
};

RunMeasures measures_of(const RowSource& source);

}  // namespace uctrace::diff
