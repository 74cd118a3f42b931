// Reads counter files (event-log/format/counter_file.hpp) while their processes go on counting, or
// after. For offline code.
//
//   CounterFile file(path); // keeps it open CounterSnapshot now = file.read(); // as often as
//   wanted; blocks nobody
//
// A number in a later snapshot is never less than in an earlier one (modulo 2^64: subtract as
// unsigned words).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "event-log/format/counter_file.hpp"
#include "event-log/format/definitions.hpp"
#include "event-log/reader/input_file.hpp"
#include "event-log/reader/liveness.hpp"

namespace uctrace::log {

// No job has more. Larger, damaged numbers are ignored: matrices have a place for each pair.
inline constexpr std::int32_t kMostRanks = 1 << 24;

struct CounterTotal {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  CounterTotal& operator+=(const CounterTotal& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  bool operator==(const CounterTotal&) const = default;
};

struct CountedCommunicator {
  std::uint32_t size = 0;  // of its members, or of the remote group
  bool inter = false;
  bool members_known = false;
  std::vector<RankRun> runs;
  std::string label;

  // Ranks in MPI_COMM_WORLD, in order; empty if they are not known.
  std::vector<std::int32_t> members() const;
  // The receivers if a member sends to each other member.
  std::vector<std::int32_t> others(std::int32_t rank) const;
};

struct CountedGpu {
  Vendor vendor = Vendor::none;
  CounterGpu facts{};
};

// One process at one moment. Texts are plain (plain_text.hpp), whatever the file holds.
struct CounterSnapshot {
  CounterPage page{};
  std::map<CounterKey, CounterTotal> rows;       // one per key: the sum if the file has several
  std::vector<std::uint64_t> workers;            // uids
  std::map<std::uint32_t, std::uint64_t> peers;  // number -> uid of its worker
  std::map<std::uint32_t, std::string> interfaces, functions;
  std::map<std::uint32_t, CountedGpu> gpus;
  std::map<std::uint32_t, CountedCommunicator> communicators;
  std::string library;
  bool spawned = false;          // it has a parent (MPI_COMM_PARENT), whatever name that gets later
  std::uint64_t row_count = 0;   // rows in use, and
  std::uint64_t file_bytes = 0;  // how large the file is

  std::string host() const;
  std::string job() const;
  ProcessName process() const;  // as in the file, for look_for()
  // In MPI_COMM_WORLD, else the launcher's; -1 if there is none.
  std::int32_t rank() const;
  std::uint64_t unplaced_messages() const;
};

class CounterFile {
 public:
  // Throws FileError if it cannot be opened or is not a counter file; `unfinished` if its process
  // has only just begun it.
  explicit CounterFile(const std::filesystem::path& path);
  CounterFile(CounterFile&&) noexcept;
  CounterFile& operator=(CounterFile&&) = delete;
  ~CounterFile();

  // Throws FileError if it is damaged.
  CounterSnapshot read() const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int fd_ = -1;
};

// The path of the counter file of this log's process, if it has one.
std::filesystem::path counters_beside(const std::filesystem::path& log);

// The counter files of a folder, by name. Throws Error if it cannot be read.
std::vector<std::filesystem::path> counter_paths(const std::filesystem::path& folder);

// All processes of a folder, by the names of their files. Unreadable files are described in
// `unread`, one line each.
struct CounterFolder {
  std::vector<CounterFile> files;
  std::vector<std::string> unread;
};
CounterFolder open_counters(const std::filesystem::path& folder);

}  // namespace uctrace::log
