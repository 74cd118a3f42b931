// The last word of a log: all that can be packed, and a page that says it is all; and the page of a
// drained log in between.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "event-log/file_systems.hpp"
#include "event-log/futex.hpp"
#include "event-log/packer_parts.hpp"
#include "event-log/record_walk.hpp"

namespace uctrace::log {
namespace {

ProcessPage* copied_page() { return reinterpret_cast<ProcessPage*>(packer->page); }
LaneInfo* copied_lanes() { return reinterpret_cast<LaneInfo*>(packer->page + kLanesOffset); }

// What changed since the page was copied and lies in the file, though the copy does not say it yet.
void update_copy() {
  const ProcessPage* page = packer->file.page;
  copied_page()->allocated_bytes = packer->blocks.end();
  copied_page()->packing_ns = page->packing_ns;
  copied_page()->writing_ns = page->writing_ns;
  const LaneInfo* now = lane_info(packer->file.page, 0);
  for (std::size_t i = 0; i < kMaxLanes; ++i) {
    LaneCounters& counters = copied_lanes()[i].counters;
    memcpy(counters.overwritten, now[i].counters.overwritten, sizeof counters.overwritten);
    counters.overwritten_until_tick = now[i].counters.overwritten_until_tick;
  }
}

bool write_copied_page() {
  update_copy();
  return note_write(write_at(packer->file.fd, packer->page, kProcessPageBytes, 0) ==
                    kProcessPageBytes);
}

// Counts what is in no file as lost. Nothing is given back: a thread may still hold it.
void count_losses() {
  const std::size_t count = chunks_in_order(Chunks::all);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    const ChunkHeader* chunk = place.chunk;
    walk_records(chunk, first_unpacked(place), [&](const std::uint64_t* record) {
      packer->losses.count(chunk->lane, drop_kind_of(static_cast<RecordType>(*record & 0xff)), 1);
      return true;
    });
  }
}

// Packs everything, and says where a thread was within a record.
bool pack_all() {
  // Twice: a thread that is not over may have gone on to another chunk meanwhile.
  if (!pack_chunks(Chunks::all) || !pack_chunks(Chunks::all)) {
    return false;
  }
  const std::size_t count = chunks_in_order(Chunks::all);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    if (is_unfinished(place)) {
      packer->encoder.begin(*place.chunk, first_unpacked(place), packer->block, kMostBlockBytes);
      if (!write_block(BlockHeader::kUnfinished)) {
        return false;
      }
    }
  }
  return true;
}

// Gives the room of chunks that no thread has back to the file system.
void release_ready_chunks() {
  const std::uint32_t used = supply.places_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    PlaceState expected = PlaceState::ready;
    if (supply.places[i].state.compare_exchange_strong(expected, PlaceState::none,
                                                       std::memory_order_acq_rel)) {
      supply.ready_chunks.fetch_sub(1, std::memory_order_relaxed);
      punch_live_file(packer->file, live_offset(i), kChunkBytes);
    }
  }
}

// Packs everything on a full disk: each chunk makes room for the next ones, and the reserve for the
// first.
bool pack_all_in_reserve() {
  punch_live_file(packer->file, 0, kLiveReserve);
  for (;;) {
    const std::uint64_t before = packer->blocks.end();
    release_ready_chunks();
    if (pack_all()) {
      return true;
    }
    if (packer->blocks.end() == before) {
      return false;
    }
  }
}

// Of a mapped log. What cannot be packed stays in the file of chunks.
void close_mapped_log() {
  const OutputLog& file = packer->file;
  if (!freeze_page(file) || !read_at(file.fd, packer->page, kProcessPageBytes, 0)) {
    return;  // it stays open, and nothing is lost
  }
  const bool packed = pack_all() || pack_all_in_reserve();
  ProcessPage* page = copied_page();
  page->live_bytes = packed ? 0 : page->live_bytes;
  page->write_errno = file.page->write_errno;
  page->closed = 1;
  if (write_copied_page() && packed) {
    remove_live_file(file);
  }
  release_output_log(file);
}

// The last page, with what could not be written counted. A file system that copies on write may
// have no room even for that: then the counters go elsewhere, and the log stays open.
void close_drained_log() {
  copy_page();
  ProcessPage* page = copied_page();
  if (!pack_all()) {
    count_losses();
    page->write_errno = packer->file.page->write_errno;
    subtract_losses(copied_lanes(), packer->losses);
  }
  page->closed = 1;
  if (!write_copied_page()) {
    keep_counters(packer->file, packer->losses, static_cast<int>(packer->file.page->write_errno));
  } else if (file_system_of(page->file_system).remote && fdatasync(packer->file.fd) != 0) {
    page->write_errno = static_cast<std::uint32_t>(errno);
    write_copied_page();
  }
}

}  // namespace

// With whole words: other threads count in it meanwhile.
void copy_page() {
  const auto* from = reinterpret_cast<const std::uint64_t*>(packer->file.page);
  auto* to = reinterpret_cast<std::uint64_t*>(packer->page);
  for (std::size_t i = 0; i < kProcessPageBytes / sizeof *to; ++i) {
    to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
  }
}

// The clock alone is nothing new. A sign of life alone is one word: all ranks of a job may wait.
void write_changed_page() {
  auto* last = reinterpret_cast<ProcessPage*>(packer->written);
  const ProcessPage* page = copied_page();
  update_copy();
  memcpy(last->anchors, page->anchors, sizeof last->anchors);
  last->anchor_count = page->anchor_count;
  const bool lives = last->heartbeat_realtime_ns != page->heartbeat_realtime_ns;
  last->heartbeat_realtime_ns = page->heartbeat_realtime_ns;
  if (memcmp(last, page, kProcessPageBytes) != 0) {
    if (write_copied_page()) {
      memcpy(last, page, kProcessPageBytes);
    }
  } else if (lives) {
    // One that fails loses no record.
    write_at(packer->file.fd, &page->heartbeat_realtime_ns, sizeof page->heartbeat_realtime_ns,
             offsetof(ProcessPage, heartbeat_realtime_ns));
  }
}

void close_log() {
  if (packer->removed || is_removed(packer->file)) {
    count_losses();
    keep_counters_of_removed(packer->file, packer->blocks.end(), packer->losses);
    remove_live_file(packer->file);
  } else if (packer->is_mapped()) {
    close_mapped_log();
  } else {
    close_drained_log();
  }
  packer->blocks.give_back();
  futex_set(packer->state, Packer::kStopped);
}

}  // namespace uctrace::log
