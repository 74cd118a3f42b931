// Where the blocks of a log are in its file. Without a bound they follow each other. If events are
// bounded, blocks lie in slots of a fixed size, and new events overwrite the slot with the oldest
// ones. Definitions have their own slots, which nothing overwrites. At any time the file is a chain
// of blocks and gaps from the page to its end: so a reader finds every complete block, also after
// the process was killed. Tables of lanes lie among the blocks.
//
// The file is written by system calls or, without a helper, as mapped memory. Private to
// event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/block_encoder.hpp"
#include "event-log/recorder/output_log.hpp"

namespace uctrace::log {

inline constexpr std::size_t kSlotBytes = kMostBlockBytes;

class BlockFile {
 public:
  // `most_event_bytes` 0 = all events are kept. Overwritten records are counted in their lane.
  void start(int fd, std::uint64_t most_event_bytes);
  // From now on writes to `memory`, to which `bytes` of the file from `begin` on are mapped. Before
  // the first block.
  void start_in_memory(unsigned char* memory, std::uint64_t begin, std::uint64_t bytes);
  // Allocates the room that a bounded log may need, as far as there is any, before something else
  // takes it. May take long. give_back() releases what was not needed.
  void reserve();
  void give_back();
  // How many slots there may be for events; 0 = no slots.
  std::uint64_t most_event_slots() const { return most_event_slots_; }

  // The most bytes that the next block of this stream may have.
  std::size_t room(Stream stream) const;
  // Writes a block of at most room(). False: errno says why, and the file is unchanged.
  bool write(const BlockHeader& block);
  std::uint64_t end() const { return end_; }

  // Where a table of lanes can be put. False: errno says why.
  bool place_table(std::uint64_t& at);
  // The table was written there.
  void add_table(std::uint64_t at) { end_ = at + kLaneTableBytes; }

  // Calls visit(header) for each block of the file. Reads it.
  template <typename Visit>
  void visit_all(Visit visit) const {
    visit_blocks(begin_, end_, visit);
  }

 private:
  struct Slot {             // where blocks of a stream are written
    std::uint64_t at, end;  // the next block's place; equal = there is none
  };

  template <typename Visit>
  void visit_blocks(std::uint64_t begin, std::uint64_t end, Visit visit) const;
  bool bounded() const { return most_event_slots_ != 0; }
  bool put(const void* data, std::size_t bytes, std::uint64_t at);
  bool get(void* data, std::size_t bytes, std::uint64_t at) const;
  bool allocate(int mode, std::uint64_t at, std::uint64_t bytes);
  bool write_gap(std::uint64_t at, std::uint64_t end);
  bool append(const BlockHeader& block);
  bool open_slot(Stream stream);
  bool find_slot(Stream stream, std::uint64_t& at);
  bool add_slot(std::uint64_t& at);
  bool take_oldest_slot(std::uint64_t& at);
  void count_overwritten(std::uint64_t slot, std::uint64_t times);
  bool put_into_slot(const BlockHeader& block, Slot& slot);

  int fd_;
  unsigned char* memory_;     // of the file from begin_ on, or nullptr
  std::uint64_t memory_end_;  // in the file
  std::uint64_t begin_, end_;
  std::uint64_t most_event_slots_;
  std::uint64_t event_slots_;
  std::uint64_t newest_event_slot_;  // its offset: the next slot is the oldest
  Slot slots_[2];                    // by Stream - 1
};

template <typename Visit>
void BlockFile::visit_blocks(std::uint64_t begin, std::uint64_t end, Visit visit) const {
  BlockHeader header;
  static_assert(offsetof(BlockHeader, bytes) == offsetof(GapHeader, bytes));
  static_assert(offsetof(BlockHeader, bytes) == offsetof(LaneTableHeader, bytes));
  for (std::uint64_t at = begin; at + kBlockAlignment <= end; at += header.bytes) {
    header = {};
    const std::size_t bytes = end - at < sizeof header ? sizeof(GapHeader) : sizeof header;
    if (!get(&header, bytes, at) || header.bytes < kBlockAlignment) return;
    if (header.magic == kBlockMagic) visit(header);
  }
}

}  // namespace uctrace::log
