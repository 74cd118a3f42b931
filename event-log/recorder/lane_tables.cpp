// More lanes for the log: tables appended to its file after the blocks, by the thread that writes
// the file (packer.hpp).
#include <errno.h>
#include <string.h>

#include "event-log/format/drop_causes.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/packer_parts.hpp"

namespace uctrace::log {
namespace {

// The memory of a table besides its part of the file.
struct TableMemory {
  Lane lanes[kTableLanes];
  FirstSlots slots[kTableLanes];
  alignas(8) unsigned char copy[kLaneTableBytes];
  alignas(8) unsigned char written[kLaneTableBytes];
};

// A table of free lanes. It is in the file before a thread can see it: otherwise counts could be
// lost.
void* make_table(std::uint64_t at, std::size_t first_lane) {
  void* table = packer->is_mapped() ? map_file(packer->file.fd, at, kLaneTableBytes)
                                    : map_memory(kLaneTableBytes);
  if (table == nullptr) {
    return nullptr;
  }
  auto* header = static_cast<LaneTableHeader*>(table);
  header->bytes = kLaneTableBytes;
  header->first_lane = static_cast<std::uint32_t>(first_lane);
  header->magic = kLanesMagic;
  if (!packer->is_mapped() &&
      write_at(packer->file.fd, table, kLaneTableBytes, at) != kLaneTableBytes) {
    const int reason = errno;
    unmap_memory(table, kLaneTableBytes);
    errno = reason;
    return nullptr;
  }
  return table;
}

bool add_table() {
  auto* memory = static_cast<TableMemory*>(map_memory(sizeof(TableMemory)));
  if (memory == nullptr) {
    return false;
  }
  std::uint64_t at = 0;
  void* table = packer->blocks.place_table(at) ? make_table(at, lanes_there()) : nullptr;
  if (table == nullptr) {
    const int reason = errno;
    unmap_memory(memory, sizeof *memory);
    errno = reason;
    return false;
  }
  packer->blocks.add_table(at);
  ProcessPage* page = packer->file.page;
  __atomic_store_n(&page->lane_tables[packer->part_count - 1], at, __ATOMIC_RELEASE);
  if (packer->is_mapped()) {
    __atomic_store_n(&page->allocated_bytes, packer->blocks.end(), __ATOMIC_RELEASE);
  }
  memcpy(memory->written, table, kLaneTableBytes);
  packer->parts[packer->part_count++] = {.live = static_cast<unsigned char*>(table),
                                         .copy = memory->copy,
                                         .written = memory->written,
                                         .bytes = kLaneTableBytes,
                                         .at = at,
                                         .lanes_offset = sizeof(LaneTableHeader)};
  add_lanes(memory->lanes, memory->slots,
            reinterpret_cast<LaneInfo*>(static_cast<LaneTableHeader*>(table) + 1));
  return true;
}

}  // namespace

bool wants_lanes() {
  return lanes_there() < kMaxLanes && lanes_there() - lanes_used() < kLanesAhead;
}

void add_lane_table() {
  const bool added = add_table();
  const DropCause shortage = !added                       ? cause_of(errno)
                             : lanes_there() == kMaxLanes ? DropCause::no_lane
                                                          : DropCause::helper_late;
  pool.lanes.cause.store(shortage, std::memory_order_relaxed);
  if (pool.waiting.load(std::memory_order_acquire) != 0) {
    futex_bump(pool.made);
  }
}

}  // namespace uctrace::log
