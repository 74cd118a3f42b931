// Writes a log as the recorder leaves it when its process has ended: the process page, then blocks
// of packed records, each of one chunk of a thread. Through event-log's own encoder and layouts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "event-log/recorder/block_encoder.hpp"
#include "tests/tracegen/clocks.hpp"

namespace uctrace::tracegen {

// The bytes of one log, written in large parts.
class LogOutput {
 public:
  // With an empty path nothing is written.
  explicit LogOutput(const std::filesystem::path& path);
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  void append(const void* from, std::size_t bytes);
  // Writes what is not written yet, and the page in front of it. Nothing can be added afterwards.
  void finish(const log::ProcessPage& page, const std::vector<log::LaneInfo>& lanes);
  // Cuts so many bytes off the end of a finished log; returns how many it could.
  std::uint64_t cut(std::uint64_t bytes);
  std::uint64_t size() const { return size_; }

 private:
  void write_buffer();

  int fd_;
  std::string name_;
  std::uint64_t size_ = log::kProcessPageBytes;
  std::vector<unsigned char> buffer_;
};

// The records of one stream of one lane, chunk after chunk.
class RecordStream {
 public:
  RecordStream(LogOutput& out, const HostClock& clock, std::uint16_t lane, log::Stream stream);

  // A record of as many words as its head says. `true_ns` is when it is recorded.
  void add(const std::uint64_t* record, std::int64_t true_ns);
  // Writes what is not written yet. More may follow.
  void finish();

 private:
  void open_chunk(std::int64_t true_ns);
  void end_block();

  LogOutput& out_;
  const HostClock& clock_;
  log::ChunkHeader chunk_{};
  std::uint32_t at_ = 0;  // in the chunk; 0: none is open
  bool in_block_ = false;
  std::unique_ptr<std::uint64_t[]> block_;
  log::BlockEncoder encoder_;
};

}  // namespace uctrace::tracegen
