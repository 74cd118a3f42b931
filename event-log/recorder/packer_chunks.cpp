// Packing chunks: which ones, in what order, by one thread or several, and making them ready again.
#include <string.h>

#include <algorithm>

#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/store_order.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {
namespace {

// Only the packer adds; the helper reads it, too.
void add(std::uint64_t& counter, std::uint64_t more) {
  __atomic_store_n(&counter, counter + more, __ATOMIC_RELAXED);
}

// Measures what delays the packer: the file system, or its own work and lack of a core.
void count_time(std::uint64_t begun, std::uint64_t packed) {
  ProcessPage* page = packer->file.page;
  add(page->packing_ns, packed - begun);
  add(page->writing_ns, monotonic_raw_ns() - packed);
}

bool write_full_block(const BlockHeader& block) {
  const StorageCall call;
  return write_block(block);
}

// Writes the records of the chunk that were published since the last time; their first block is at
// the desk since `begun`. False: the file takes no more now.
bool write_chunk(Place& place, Desk& desk, std::uint64_t begun) {
  const ChunkHeader& chunk = *place.chunk;
  for (std::uint32_t from = first_unpacked(place);;) {
    const std::size_t room = packer->blocks.room(chunk.stream);
    if (desk.to != from && desk.header().bytes > room) {
      desk.encode(chunk, from, room);  // the thread that encoded it did not know how much room
                                       // there would be
    }
    if (desk.to == from) {
      return true;
    }
    const std::uint64_t packed = monotonic_raw_ns();
    const bool ok = write_full_block(desk.header());
    count_time(begun, packed);
    if (!ok) {
      return false;
    }
    place.packed = from = desk.to;
    begun = monotonic_raw_ns();
    desk.encode(chunk, from, packer->blocks.room(chunk.stream));
  }
}

// Without a sequence number the chunk belongs to no thread: a concurrent reader then knows that its
// records are in the log.
void recycle(Place& place) {
  ChunkHeader* chunk = place.chunk;
  pool.recycled.fetch_add(1, std::memory_order_release);
  __atomic_store_n(&chunk->sequence, 0, __ATOMIC_RELEASE);
  // No reader may see the records vanish before the number does: a release orders only earlier
  // stores.
  order_stores();
  const bool surplus =
      !packer->is_mapped() && pool.ready_chunks.load(std::memory_order_relaxed) >=
                                  packer->ready_target.load(std::memory_order_relaxed);
  if (surplus) {
    unmap_memory(chunk, chunk->bytes);
    place.chunk = nullptr;
    pool.ring_bytes.fetch_sub(kChunkBytes, std::memory_order_relaxed);
    place.state.store(PlaceState::none, std::memory_order_release);
    return;
  }
  const std::uint32_t used = first_unpacked(place);
  memset(reinterpret_cast<unsigned char*>(chunk) + sizeof *chunk, 0, used - sizeof *chunk);
  chunk->anchor = take_anchor();
  make_ready(place);
}

PlaceState state_of(const Place& place) { return place.state.load(std::memory_order_acquire); }

bool holds_records_of(const Place& place, Stream stream) {
  return __atomic_load_n(&place.chunk->sequence, __ATOMIC_ACQUIRE) != 0 &&
         place.chunk->stream == stream;
}

// Appends the chunks of a stream to packer->order, which has `count`. Each place is read only once:
// a chunk that retires meanwhile would otherwise be in neither part. Returns the new number.
std::size_t add_chunks(Stream stream, bool taken_too, std::size_t count) {
  Place** const first = packer->order + count;
  const std::uint32_t used = pool.places_used.load(std::memory_order_acquire);
  std::size_t taken = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    Place& place = pool.places[i];
    const PlaceState state = state_of(place);
    if (state == PlaceState::retired && holds_records_of(place, stream)) {
      packer->order[count++] = &place;
    } else if (state == PlaceState::taken && taken_too && holds_records_of(place, stream)) {
      packer->taken[taken++] = &place;
    }
  }
  std::sort(first, packer->order + count,
            [](const Place* a, const Place* b) { return a->retired_as < b->retired_as; });
  std::sort(packer->taken, packer->taken + taken,
            [](const Place* a, const Place* b) { return a->chunk->sequence < b->chunk->sequence; });
  std::copy(packer->taken, packer->taken + taken, packer->order + count);
  return count + taken;
}

}  // namespace

std::uint32_t first_unpacked(const Place& place) {
  return place.packed == 0 ? sizeof(ChunkHeader) : place.packed;
}

bool write_block(const BlockHeader& block) {
  if (!note_write(packer->blocks.write(block))) {
    return false;
  }
  if (packer->is_mapped()) {
    __atomic_store_n(&packer->file.page->allocated_bytes, packer->blocks.end(), __ATOMIC_RELEASE);
  }
  return true;
}

// At the end of a process a thread may still be writing there: any value found is acceptable.
// ThreadSanitizer is told that this is intended.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
bool is_unfinished(const Place& place) {
  const auto* base = reinterpret_cast<const unsigned char*>(place.chunk);
  std::uint64_t any = 0;
  for (std::uint32_t at = first_unpacked(place); at + 8 <= place.chunk->bytes; at += 8) {
    any |= *reinterpret_cast<const std::uint64_t*>(base + at);
  }
  return any != 0;
}

std::size_t chunks_in_order(Chunks which) {
  const bool all = which == Chunks::all;
  const std::size_t count =
      add_chunks(Stream::definitions, all || which == Chunks::retired_and_definitions, 0);
  return add_chunks(Stream::events, all, count);
}

namespace {

bool begin_turn_of(const ChunkHeader& chunk) {
  return packer->turns.begin(chunk.lane, chunk.stream, chunk.sequence);
}

// `retired`: read before it was encoded.
bool pack_place(Place& place, Desk& desk, bool retired, std::uint64_t begun) {
  if (!write_chunk(place, desk, begun)) {
    return false;
  }
  const bool held = packer->team != nullptr && packer->team->is_held(*place.chunk);
  if (retired && !held && !is_unfinished(place)) {
    recycle(place);
  }
  return true;
}

bool is_retired(const Place& place) { return state_of(place) == PlaceState::retired; }

// `retired`: the earlier result of is_retired().
bool pack_at_own_desk(Place& place, bool retired) {
  Desk& desk = packer->desk;
  const ChunkHeader& chunk = *place.chunk;
  const std::uint64_t begun = monotonic_raw_ns();
  desk.encode(chunk, first_unpacked(place), packer->blocks.room(chunk.stream));
  return pack_place(place, desk, retired, begun);
}

bool pack_alone(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Place& place = *packer->order[i];
    if (begin_turn_of(*place.chunk) && !pack_at_own_desk(place, is_retired(place))) {
      return false;
    }
  }
  return true;
}

// Threads that wait for a chunk may encode one of those given now; there may be many more threads
// than chunks.
void wake_callers() {
  if (pool.waiting_on.load(std::memory_order_acquire) != 0) {
    futex_bump(pool.made, static_cast<int>(kDesks));
  }
}

// A turn of chunks that the team encodes: those of packer->order whose turn has come, by their
// numbers there.
class SharedTurn {
 public:
  explicit SharedTurn(std::size_t count) : count_(count) {}

  bool pack() {
    for (std::size_t i = 0; give_from(i); ++i) {
      if (i % kDesks == 0) wake_callers();
      if (!pack_one(i)) {
        team_.take_back();
        return false;
      }
    }
    return true;
  }

 private:
  struct Given {
    Place* place;
    bool retired;  // before it was encoded
    bool shared;   // else it has no desk
  };

  Given& given_at(std::size_t number) { return desks_[number % kDesks]; }

  bool pack_one(std::size_t number) {
    const Given& given = given_at(number);
    if (Desk* desk = given.shared ? team_.wait_for(number) : nullptr) {
      // The time of the block is that of the thread that encoded it.
      const std::uint64_t begun = monotonic_raw_ns() - team_.encoding_ns(number);
      const bool ok = pack_place(*given.place, *desk, given.retired, begun);
      team_.put_away(number);
      return ok;
    }
    return pack_at_own_desk(*given.place, given.retired);
  }

  // Gives chunks from this number on, as many as there are desks. False: there are no more.
  bool give_from(std::size_t number) {
    for (; next_ < count_ && given_ < number + kDesks; ++next_) {
      Place* const place = packer->order[next_];
      if (begin_turn_of(*place->chunk)) {
        const bool retired = is_retired(*place);
        const bool shared = team_.give(given_, *place->chunk, first_unpacked(*place));
        given_at(given_++) = {place, retired, shared};
      }
    }
    return number < given_;
  }

  PackingTeam& team_ = *packer->team;
  const std::size_t count_;
  std::size_t next_ = 0;   // in packer->order
  std::size_t given_ = 0;  // how many were
  Given desks_[kDesks];
};

}  // namespace

bool pack_chunks(Chunks which) {
  const std::size_t count = chunks_in_order(which);
  return packer->together && count > 1 ? SharedTurn(count).pack() : pack_alone(count);
}

}  // namespace uctrace::log
