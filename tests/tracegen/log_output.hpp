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

// What a log of bounded size lost of a lane.
struct Overwritten {
  std::uint64_t records[log::kDropKinds] = {};
  std::uint64_t until_tick = 0;
};

// The bytes of one log, written in large parts. Of bounded size: in slots, of which those of events
// are used again, the oldest first.
class LogOutput {
 public:
  // With an empty path nothing is written. `max_event_bytes`: 0 = no bound.
  explicit LogOutput(const std::filesystem::path& path, std::uint64_t max_event_bytes = 0);
  ~LogOutput();
  LogOutput(const LogOutput&) = delete;
  LogOutput& operator=(const LogOutput&) = delete;

  void append(const log::BlockHeader* block);
  // Of a lane, by its number.
  Overwritten overwritten(std::uint16_t lane) const;
  // Writes what is not written yet, and the page in front of it. Nothing can be added afterwards.
  void finish(const log::ProcessPage& page, const std::vector<log::LaneInfo>& lanes);
  // Cuts up to this many bytes off the end of a finished log; returns how many.
  std::uint64_t cut(std::uint64_t bytes);
  std::uint64_t size() const { return size_; }
  std::uint64_t max_event_bytes() const { return max_event_bytes_; }

 private:
  using Bytes = std::vector<unsigned char>;
  static constexpr std::size_t kSlotBytes = 64 * 1024;
  void put(const void* from, std::size_t bytes);
  void put_into_slot(const log::BlockHeader* block);
  Bytes& slot_for(const log::BlockHeader& block);
  void clear(Bytes& slot);
  void write_slots();
  void write_buffer();

  int fd_;
  std::string name_;
  std::uint64_t size_ = log::kProcessPageBytes;
  Bytes buffer_;
  std::uint64_t max_event_bytes_;
  std::vector<Bytes> slots_;              // as they lie in the file
  std::vector<std::size_t> of_events_;    // which of them hold events, the oldest first
  std::size_t of_definitions_ = kNoSlot;  // the one that is being filled
  static constexpr std::size_t kNoSlot = ~std::size_t{0};
  std::vector<Overwritten> overwritten_;
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
