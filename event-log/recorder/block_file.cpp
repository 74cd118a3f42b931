#include "event-log/recorder/block_file.hpp"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/store_order.hpp"

namespace uctrace::log {
namespace {

// With less room left, a slot is given up for the next one: small blocks pack less well.
constexpr std::size_t kLeastRoom = 4096;
constexpr std::uint64_t kLeastEventSlots = 4;
// On a full disk: one slot to write to, and one to overwrite.
constexpr std::uint64_t kLeastOnFullDisk = 2;

constexpr std::size_t kOverwrittenBytes =
    sizeof(LaneCounters::overwritten) + sizeof(LaneCounters::overwritten_until_tick);
constexpr std::size_t kOverwrittenOffset =
    offsetof(LaneInfo, counters) + offsetof(LaneCounters, overwritten);

std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream) - 1; }

bool is_full(int error) { return error == ENOSPC || error == EDQUOT; }

}  // namespace

void BlockFile::start(int fd, std::uint64_t most_event_bytes) {
  *this = {};
  fd_ = fd;
  begin_ = end_ = kProcessPageBytes;
  const std::uint64_t slots = most_event_bytes / kSlotBytes;
  most_event_slots_ = most_event_bytes == 0      ? 0
                      : slots < kLeastEventSlots ? kLeastEventSlots
                                                 : slots;
}

void BlockFile::start_in_memory(unsigned char* memory, std::uint64_t begin, std::uint64_t bytes) {
  fd_ = -1;
  memory_ = memory;
  memory_end_ = begin + bytes;
  begin_ = end_ = begin;
}

// --- the file, by the system or in memory --------------------------------------------------------

bool BlockFile::put(const void* data, std::size_t bytes, std::uint64_t at) {
  if (memory_ == nullptr) return write_at(fd_, data, bytes, at) == bytes;
  memcpy(memory_ + (at - begin_), data, bytes);
  return true;
}

bool BlockFile::get(void* data, std::size_t bytes, std::uint64_t at) const {
  if (memory_ == nullptr) return read_at(fd_, data, bytes, at);
  memcpy(data, memory_ + (at - begin_), bytes);
  return true;
}

bool BlockFile::allocate(int mode, std::uint64_t at, std::uint64_t bytes) {
  if (memory_ == nullptr) return syscall(SYS_fallocate, fd_, mode, at, bytes) == 0;
  errno = ENOSPC;
  return at + bytes <= memory_end_;
}

bool BlockFile::write_gap(std::uint64_t at, std::uint64_t end) {
  if (at == end) return true;
  const GapHeader gap{kGapMagic, static_cast<std::uint32_t>(end - at)};
  return put(&gap, sizeof gap, at);
}

// -------------------------------------------------------------------------------------------------

// One more slot is for definitions. If the file system gets full, it keeps what was allocated
// before.
void BlockFile::reserve() {
  constexpr int kKeepSize = 1;
  for (std::uint64_t slots = most_event_slots_; slots >= kLeastEventSlots; slots /= 2) {
    if (allocate(kKeepSize, end_, (slots + 1) * kSlotBytes) || !is_full(errno)) return;
    give_back();
  }
}

void BlockFile::give_back() {
  if (memory_ == nullptr && bounded() && ftruncate(fd_, static_cast<off_t>(end_)) != 0) {
    return;  // it stays allocated
  }
}

std::size_t BlockFile::room(Stream stream) const {
  const Slot& slot = slots_[index_of(stream)];
  const std::uint64_t left = slot.end - slot.at;
  return bounded() && left >= kLeastRoom ? left : kMostBlockBytes;
}

bool BlockFile::write(const BlockHeader& block) {
  if (!bounded()) return append(block);
  Slot& slot = slots_[index_of(block.stream)];
  if (slot.end - slot.at < block.bytes && !open_slot(block.stream)) return false;
  return put_into_slot(block, slot);
}

bool BlockFile::append(const BlockHeader& block) {
  if (!put(&block, block.bytes, end_)) return false;
  end_ += block.bytes;
  return true;
}

bool BlockFile::open_slot(Stream stream) {
  std::uint64_t at = 0;
  if (!find_slot(stream, at)) return false;
  if (stream == Stream::events) newest_event_slot_ = at;
  slots_[index_of(stream)] = {at, at + kSlotBytes};
  return true;
}

bool BlockFile::find_slot(Stream stream, std::uint64_t& at) {
  const bool events = stream == Stream::events;
  if (events && event_slots_ == most_event_slots_) return take_oldest_slot(at);
  if (add_slot(at)) {
    event_slots_ += events;
    return true;
  }
  if (!is_full(errno) || event_slots_ < kLeastOnFullDisk || !take_oldest_slot(at)) return false;
  // The existing slots must be enough, and definitions are worth more than the oldest events.
  event_slots_ -= !events;
  most_event_slots_ = event_slots_;
  return true;
}

// At the end of the file.
bool BlockFile::add_slot(std::uint64_t& at) {
  at = end_;
  const auto new_end = static_cast<off_t>(at + kSlotBytes);
  if (!allocate(0, at, kSlotBytes) && (!is_refused(errno) || ftruncate(fd_, new_end) != 0)) {
    return false;
  }
  if (!write_gap(at, at + kSlotBytes)) return false;
  end_ = at + kSlotBytes;
  return true;
}

// The slot after the newest one is the oldest. Losses are counted before the records are gone.
bool BlockFile::take_oldest_slot(std::uint64_t& at) {
  const std::uint64_t definitions_end = slots_[index_of(Stream::definitions)].end;
  at = newest_event_slot_;
  BlockHeader first;
  do {
    at = at + kSlotBytes < end_ ? at + kSlotBytes : begin_;
    if (!get(&first, sizeof first, at)) return false;
  } while (at + kSlotBytes == definitions_end || first.magic == kLanesMagic ||
           (first.magic == kBlockMagic && first.stream == Stream::definitions));
  count_overwritten(at, 1);
  if (write_gap(at, at + kSlotBytes)) return true;
  count_overwritten(at, ~std::uint64_t{0});  // they are still there
  return false;
}

void BlockFile::count_overwritten(std::uint64_t slot, std::uint64_t times) {
  visit_blocks(slot, slot + kSlotBytes, [&](const BlockHeader& block) {
    if (block.lane >= lanes_there()) return;
    LaneCounters& counters = lane_info(block.lane)->counters;
    for (std::size_t kind = 0; kind < kDropKinds; ++kind) {
      __atomic_fetch_add(&counters.overwritten[kind], block.records[kind] * times,
                         __ATOMIC_RELAXED);
    }
    if (counters.overwritten_until_tick < block.last_tick) {
      __atomic_store_n(&counters.overwritten_until_tick, block.last_tick, __ATOMIC_RELAXED);
    }
    // The page of a drained log, and its tables, are only written later.
    const std::uint64_t at = place_of_lane(*pool.page, block.lane);
    if (memory_ == nullptr && at != 0) {
      write_at(fd_, counters.overwritten, kOverwrittenBytes, at + kOverwrittenOffset);
    }
  });
}

// In a log of bounded size a table takes a slot.
bool BlockFile::place_table(std::uint64_t& at) {
  static_assert(kLaneTableBytes == kSlotBytes);
  at = (end_ + kLaneTableBytes - 1) / kLaneTableBytes * kLaneTableBytes;
  return write_gap(end_, at);
}

// The header comes last: until then the gap is still there.
bool BlockFile::put_into_slot(const BlockHeader& block, Slot& slot) {
  const std::uint64_t end = slot.at + block.bytes;
  const std::size_t body = block.bytes - sizeof block;
  if (!put(&block + 1, body, slot.at + sizeof block) || !write_gap(end, slot.end)) return false;
  order_stores();
  if (!put(&block, sizeof block, slot.at)) return false;
  slot.at = end;
  return true;
}

}  // namespace uctrace::log
