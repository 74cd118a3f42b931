// Where the blocks of a log lie in its file: one behind the other, or, where the events may take
// only so much, in slots of a fixed size, of which the oldest that holds events gives way to new
// ones. Definitions have slots of their own, which nothing overwrites. At any time the file is a
// chain of blocks and gaps from the page to its end, so that whoever reads it then, or after the
// process was killed, finds every block that is whole. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/block_encoder.hpp"
#include "event-log/output_log.hpp"

namespace uctrace::log {

inline constexpr std::size_t kSlotBytes = kMostBlockBytes;

class BlockFile {
 public:
  // `lanes` are told what is overwritten. `most_event_bytes` 0 = all events are kept.
  void start(int fd, LaneInfo* lanes, std::uint64_t most_event_bytes);
  // Takes the room that a bounded log may need from the file system, before something else does, as
  // much as there is. May take long. give_back() ends that for what was not needed.
  void reserve();
  void give_back();

  // The most bytes that the next block of this stream may have.
  std::size_t room(Stream stream) const;
  // Writes a block of at most room(). False: errno says why, and the file is what it was.
  bool write(const BlockHeader& block);
  std::uint64_t end() const { return end_; }

  // Calls visit(block) for the header of each block in [begin, end) of a file. Reads the file.
  template <typename Visit>
  static void visit_blocks(int fd, std::uint64_t begin, std::uint64_t end, Visit visit);

 private:
  struct Slot {             // the one that blocks of a stream are written to
    std::uint64_t at, end;  // the next block's place; equal = there is none
  };

  bool bounded() const { return most_event_slots_ != 0; }
  bool append(const BlockHeader& block);
  bool open_slot(Stream stream);
  bool find_slot(Stream stream, std::uint64_t& at);
  bool add_slot(std::uint64_t& at);
  bool take_oldest_slot(std::uint64_t& at);
  void count_overwritten(std::uint64_t slot, std::uint64_t times);
  bool put_into_slot(const BlockHeader& block, Slot& slot);

  int fd_;
  LaneInfo* lanes_;
  std::uint64_t end_;
  std::uint64_t most_event_slots_;
  std::uint64_t event_slots_;
  std::uint64_t newest_event_slot_;  // its offset: the oldest one is the next behind it
  Slot slots_[2];                    // by Stream - 1
};

template <typename Visit>
void BlockFile::visit_blocks(int fd, std::uint64_t begin, std::uint64_t end, Visit visit) {
  BlockHeader header;
  static_assert(offsetof(BlockHeader, bytes) == offsetof(GapHeader, bytes));
  for (std::uint64_t at = begin; at + kBlockAlignment <= end; at += header.bytes) {
    header = {};
    const std::size_t bytes = end - at < sizeof header ? sizeof(GapHeader) : sizeof header;
    if (!read_at(fd, &header, bytes, at) || header.bytes < kBlockAlignment) return;
    if (header.magic == kBlockMagic) visit(header);
  }
}

}  // namespace uctrace::log
