// The end of a log: packs everything possible and writes a final page. Also the page of a drained
// log in between.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/format/drop_causes.hpp"
#include "event-log/format/file_systems.hpp"
#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/record_walk.hpp"

namespace uctrace::log {
namespace {

ProcessPage* copied_page() { return reinterpret_cast<ProcessPage*>(packer->page); }

// Updates in the copies what was written to the file after the page was copied.
void update_copies() {
  const ProcessPage* page = packer->file.page;
  copied_page()->allocated_bytes = packer->blocks.end();
  copied_page()->packing_ns = page->packing_ns;
  copied_page()->writing_ns = page->writing_ns;
  const std::size_t lanes = std::min(lanes_used(), std::size_t{copied_page()->lanes_used});
  for (std::size_t i = 0; i < lanes; ++i) {
    LaneCounters& counters = copied_lane(i)->counters;
    const LaneCounters& now = lane_info(i)->counters;
    memcpy(counters.overwritten, now.overwritten, sizeof counters.overwritten);
    counters.overwritten_until_tick = now.overwritten_until_tick;
  }
}

// In whole words: other threads may count there meanwhile.
void copy_words(const unsigned char* from, unsigned char* to, std::size_t bytes) {
  const auto* in = reinterpret_cast<const std::uint64_t*>(from);
  auto* out = reinterpret_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / sizeof *out; ++i) {
    out[i] = __atomic_load_n(&in[i], __ATOMIC_ACQUIRE);
  }
}

bool write_part(const Part& part) {
  return note_write(write_at(packer->file.fd, part.copy, part.bytes, part.at) == part.bytes);
}

// The page comes last: it refers to the tables.
bool write_copies() {
  update_copies();
  for (std::size_t i = packer->part_count; i-- > 0;) {
    if (!write_part(packer->parts[i])) {
      return false;
    }
  }
  return true;
}

// In the copies, counts records that are in no file as lost. Frees nothing: a thread may still hold
// it.
void count_losses(DropCause cause) {
  const std::size_t count = chunks_in_order(Chunks::all);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    LaneInfo* lane = copied_lane(place.chunk->lane);
    walk_records(place.chunk, first_unpacked(place), [&](const std::uint64_t* record) {
      if (lane != nullptr) {
        count_lost(*lane, drop_kind_of(static_cast<RecordType>(*record & 0xff)), 1, cause);
      }
      return true;
    });
  }
}

// The same for records in a file that was removed and is only still open.
void count_written_as_lost(DropCause cause) {
  packer->blocks.visit_all([&](const BlockHeader& block) {
    if (LaneInfo* lane = copied_lane(block.lane)) {
      for (std::size_t kind = 0; kind < kDropKinds; ++kind) {
        count_lost(*lane, static_cast<DropKind>(kind), block.records[kind], cause);
      }
    }
  });
}

}  // namespace

bool pack_all() {
  // Twice: a thread that is not over may have gone on to another chunk meanwhile.
  // NOLINTNEXTLINE(misc-redundant-expression)
  if (!pack_chunks(Chunks::all) || !pack_chunks(Chunks::all)) {
    return false;
  }
  const std::size_t count = chunks_in_order(Chunks::all);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    if (is_unfinished(place)) {
      Desk& desk = packer->desk;
      desk.encoder.begin(*place.chunk, first_unpacked(place), desk.block, kMostBlockBytes);
      desk.encoder.end(BlockHeader::kUnfinished);
      if (!write_block(desk.header())) {
        return false;
      }
    }
  }
  return true;
}

namespace {

// Returns the room of chunks that no thread holds to the file system.
void release_ready_chunks() {
  const std::uint32_t used = pool.places_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    PlaceState expected = PlaceState::ready;
    if (pool.places[i].state.compare_exchange_strong(expected, PlaceState::none,
                                                     std::memory_order_acq_rel)) {
      pool.ready_chunks.fetch_sub(1, std::memory_order_relaxed);
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

// Detaches the page and the tables from the file, and reads their last content there. If reading is
// refused, the live memory serves: it differs only by counts of these moments. False, with errno
// set: the page, which comes last, is still attached.
bool freeze_parts() {
  for (std::size_t i = packer->part_count; i-- > 0;) {
    const Part& part = packer->parts[i];
    if (!freeze_memory(part.live, part.bytes)) {
      return false;
    }
    if (!read_at(packer->file.fd, part.copy, part.bytes, part.at)) {
      copy_words(part.live, part.copy, part.bytes);
    }
  }
  return true;
}

// If the page cannot be detached from its file, stores close the log. Threads still inside a call
// may count there.
void close_in_place() {
  note_write(false);
  pack_all();  // the rest stays in the file of chunks
  __atomic_store_n(&packer->file.page->closed, std::uint8_t{1}, __ATOMIC_RELEASE);
}

// Chunks that cannot be packed stay in their file.
void close_mapped_log() {
  const OutputLog& file = packer->file;
  if (!freeze_parts()) {
    close_in_place();
    release_output_log(file);
    return;
  }
  const bool packed = pack_all() || pack_all_in_reserve();
  ProcessPage* page = copied_page();
  page->live_bytes = packed ? 0 : page->live_bytes;
  page->write_errno = file.page->write_errno;
  page->closed = 1;
  if (write_copies() && packed) {
    remove_live_file(file);
  }
  release_output_log(file);
}

// The last page, which counts what could not be written. A file system that copies on write may not
// even have room for this page: then the counters go elsewhere, and the log stays open.
void close_drained_log() {
  copy_parts();
  ProcessPage* page = copied_page();
  if (!pack_all()) {
    count_losses(cause_of(packer_error()));
    page->write_errno = packer->file.page->write_errno;
  }
  page->closed = 1;
  if (!write_copies()) {
    keep_counters(static_cast<int>(packer->file.page->write_errno));
  } else if (file_system_of(page->file_system).remote && fdatasync(packer->file.fd) != 0) {
    page->write_errno = static_cast<std::uint32_t>(errno);
    write_copies();
  }
}

}  // namespace

LaneInfo* copied_lane(std::size_t index) {
  const bool in_page = index < kPageLanes;
  const std::size_t part = in_page ? 0 : 1 + (index - kPageLanes) / kTableLanes;
  if (part >= packer->part_count) {
    return nullptr;
  }
  const Part& in = packer->parts[part];
  auto* lanes = reinterpret_cast<LaneInfo*>(in.copy + in.lanes_offset);
  return lanes + (in_page ? index : (index - kPageLanes) % kTableLanes);
}

void copy_parts() {
  for (std::size_t i = 0; i < packer->part_count; ++i) {
    const Part& part = packer->parts[i];
    copy_words(part.live, part.copy, part.bytes);
  }
}

// A changed clock alone is not worth a write. If only the sign of life changed, one word is
// written: all ranks of a job may be waiting.
void write_changed_parts() {
  auto* last = reinterpret_cast<ProcessPage*>(packer->written);
  const ProcessPage* page = copied_page();
  update_copies();
  memcpy(last->anchors, page->anchors, sizeof last->anchors);
  last->anchor_count = page->anchor_count;
  bool page_is_written = false;
  const bool lives = last->heartbeat_realtime_ns != page->heartbeat_realtime_ns;
  last->heartbeat_realtime_ns = page->heartbeat_realtime_ns;
  for (std::size_t i = packer->part_count; i-- > 0;) {
    const Part& part = packer->parts[i];
    if (memcmp(part.written, part.copy, part.bytes) == 0) {
      continue;
    }
    if (!write_part(part)) {
      return;
    }
    memcpy(part.written, part.copy, part.bytes);
    page_is_written |= i == 0;
  }
  if (lives && !page_is_written) {
    // If it fails, no record is lost.
    write_at(packer->file.fd, &page->heartbeat_realtime_ns, sizeof page->heartbeat_realtime_ns,
             offsetof(ProcessPage, heartbeat_realtime_ns));
  }
}

void close_log() {
  close_counter_file();
  if (packer->removed || is_removed(packer->file)) {
    copy_parts();
    count_losses(DropCause::removed);
    count_written_as_lost(DropCause::removed);
    keep_counters(ENOENT);
    remove_live_file(packer->file);
  } else if (packer->is_mapped()) {
    close_mapped_log();
  } else {
    close_drained_log();
  }
  packer->blocks.give_back();
  dismiss_assistants();
  futex_set(packer->state, Packer::kStopped);
}

}  // namespace uctrace::log
