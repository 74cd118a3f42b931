// What the generated job did, as a reader of its logs should find it. README.md has the format of
// truth.json.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/tracegen/lane.hpp"
#include "tests/tracegen/messages.hpp"
#include "tests/tracegen/mpi_functions.hpp"

namespace uctrace::tracegen {

enum class Kind : std::uint8_t { tag, am, stream, put, get, atomic };
inline constexpr std::array<const char*, 6> kKindNames = {"tag", "am",  "stream",
                                                          "put", "get", "atomic"};

// Operations of one kind that moved a part of a message.
struct TruthHop {
  std::uint16_t interface = kNoInterface;
  const char* op = "";
  bool by_src = true;
  const char* role = "data";
  std::uint64_t count = 1, bytes = 0, wire_bytes = 0;
  bool exact = true;
};

struct TruthMessage {
  Kind kind = Kind::tag;
  bool ambiguous = false;
  std::int32_t src = -1, dst = -1;  // -1: it left no log
  bool unmatched = false;           // one of them left no log: fewer facts are reported
  bool from_receiver = false;       // by whom it is told then
  std::uint64_t bytes = 0;
  bool has_tag = false;
  std::int32_t mpi_tag = 0;
  std::uint64_t ucp_tag = 0;
  bool has_comm = false;
  Comm comm = Comm::world;
  MpiFunction mpi = MpiFunction::none, mpi_recv = MpiFunction::none;
  const char* protocol = "";
  bool told = false;  // by UCX, else derived
  std::uint64_t step = 0;
  std::int64_t start_ns = -1, posted_ns = -1, end_ns = -1;
  bool src_gpu = false, dst_gpu = false;
  std::uint16_t data_interface = kNoInterface;
  std::vector<TruthHop> path;
};

// Messages alike, between the same two processes.
struct Cell {
  std::uint64_t messages = 0, bytes = 0;
};

// What one process did. Messages are reported by the process that began them.
class ProcessTruth {
 public:
  ProcessTruth(const Shape& shape, std::int32_t rank, bool full)
      : shape_(shape), rank_(rank), full_(full) {}

  void add(const TruthMessage& message);
  void add_cancelled() { ++cancelled_; }
  void add_tool_send() { ++tool_sends_; }

  // The element of truth.json; empties what is kept of single messages.
  std::string text(const std::vector<log::LaneInfo>& lanes, const Tally& tally,
                   const std::string& extra);
  // Sums over processes.
  struct Totals {
    Tally tally;
    std::uint64_t messages[kKindNames.size()] = {}, bytes[kKindNames.size()] = {};
    std::uint64_t exact = 0, ambiguous = 0, unmatched_sends = 0, unmatched_receives = 0;
    std::uint64_t cancelled = 0, tool_sends = 0, dropped = 0, outside_window = 0;
    std::uint64_t overwritten = 0, stacks = 0;
    Totals& operator+=(const Totals& more);
  };
  const Totals& totals() const { return totals_; }
  Totals& totals() { return totals_; }

 private:
  // What a row says of the line that sent or received.
  std::string sites_text(const TruthMessage& message) const;
  std::string row_text(const TruthMessage& message) const;
  std::string cubes_text() const;

  const Shape& shape_;
  std::int32_t rank_;
  bool full_;
  std::unordered_map<std::uint64_t, Cell> cells_;
  std::vector<const char*> protocols_;
  std::string rows_;
  Totals totals_;
  std::uint64_t cancelled_ = 0, tool_sends_ = 0;
};

// truth.json, process after process in the order of ranks, whoever is done first.
class TruthFile {
 public:
  TruthFile(const std::string& path, const Shape& shape, std::uint64_t steps);
  ~TruthFile();
  TruthFile(const TruthFile&) = delete;
  TruthFile& operator=(const TruthFile&) = delete;

  // Waits until all lower ranks have added theirs.
  void add(std::int32_t rank, const std::string& text, const ProcessTruth::Totals& totals);
  // So that no thread waits for a rank that failed.
  void give_up();
  void finish();

 private:
  void write(const std::string& text);

  const Shape& shape_;
  std::string name_;
  std::FILE* file_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::int32_t next_ = 0;
  bool given_up_ = false;
  ProcessTruth::Totals totals_;
};

}  // namespace uctrace::tracegen
