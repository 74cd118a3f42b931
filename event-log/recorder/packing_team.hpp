// Threads that share the work of who packs. They only encode: each takes a chunk and puts its first
// block together at a desk. Who packs encodes as well; it alone writes blocks, in the order of the
// chunks, and makes chunks ready again. So the log is what one thread would have made of it, but
// for the last block of a slot, which may hold more. These threads call the system to wait and for
// nothing else.
// With `record --never-drop` the program's threads are of the team while they wait for a chunk. Who
// packs waits for them for a bounded time only: a signal handler may leave one by longjmp. The
// chunk that one has not come back from is packed at another desk, and is not used again before it
// does.
// What it is worth: docs/performance.md. Private to the packer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/helpers.hpp"
#include "event-log/recorder/block_encoder.hpp"

namespace uctrace::log {

// Chunks of a turn that may be encoded ahead of the one that is written.
inline constexpr std::size_t kDesks = 16;

// Where a block is put together.
struct Desk {
  BlockEncoder encoder;
  std::uint64_t block[kMostBlockBytes / 8];
  std::uint32_t to;  // the first record of the chunk that is not in the block

  const BlockHeader& header() const { return *reinterpret_cast<const BlockHeader*>(block); }
  // A block of at most `room` bytes, of the records from `from` on. There are none: to == from.
  void encode(const ChunkHeader& chunk, std::uint32_t from, std::size_t room);
};

// A turn: chunks get numbers from 0 on, and number n goes to desk n % kDesks. All but join(),
// encode_one() and encode_in_call() is for who packs.
class PackingTeam {
 public:
  // nullptr: there is no memory for it.
  static PackingTeam* make();

  // False: somebody who was not waited for is still at the desk of this number.
  bool give(std::size_t number, const ChunkHeader& chunk, std::uint32_t from);
  // Encodes what nobody has taken until this number, which was given, is encoded. nullptr: a thread
  // of the program does not come back with it.
  Desk* wait_for(std::size_t number);
  // How long encoding it took, by the wall clock.
  std::uint64_t encoding_ns(std::size_t number) const {
    return places_[number % kDesks].encoding_ns;
  }
  // Its block is written: the desk is free again.
  void put_away(std::size_t number);
  // What was given and not waited for is nobody's any more.
  void take_back();
  // A thread that was not waited for may still read it.
  bool is_held(const ChunkHeader& chunk) const;
  // One of these; nullptr: there is none. For tests.
  const ChunkHeader* held_chunk() const;

  // Encodes one of the chunks that nobody has taken, the longest given first. False: there is none.
  bool encode_one(std::uint32_t worker);
  // The same for a thread of the program.
  bool encode_in_call() { return encode_one(kCaller); }
  // The calling thread is one of the team from now on. Returns its number.
  std::uint32_t join();

  // Starts so many threads, which rest. Once, where packer->team is this one. Returns how many
  // there are, as the process may have no more.
  std::uint32_t start(std::uint32_t threads);
  // So many threads assist from now on, as far as there are as many; the others rest. False: none
  // does.
  bool hire(std::uint32_t threads);
  // Those that run, resting ones too. One that has not come to its first line is none yet.
  std::uint32_t threads() const;
  // Chunks that others than who packs encoded.
  std::uint64_t assisted() const { return assisted_.load(std::memory_order_relaxed); }
  // They end.
  void dismiss();

 private:
  // Who has the desk; a thread that assists has its number beyond kPacker. kLeft: a thread of the
  // program that was not waited for; it frees the desk.
  static constexpr std::uint32_t kFree = 0, kGiven = 1, kDone = 2, kPacker = 3;
  static constexpr std::uint32_t kCaller = UINT32_MAX, kLeft = UINT32_MAX - 1;

  struct Place {
    std::atomic<std::uint32_t> state;  // futex
    const ChunkHeader* chunk;
    std::uint32_t from;
    std::uint64_t encoding_ns;
    Desk desk;
  };

  static void* assist(void*);
  bool serve(std::uint32_t worker);
  bool is_gone(std::uint32_t worker) const;
  // False: it is not waited for any more.
  bool wait_while_taken(Place& place, std::uint64_t since_ns);
  Place& place_of(std::size_t number) { return places_[number % kDesks]; }

  Place places_[kDesks];
  std::atomic<std::size_t> oldest_;     // the number that is waited for: where to begin looking
  std::atomic<std::uint32_t> offers_;   // futex: moves on when a chunk is given
  std::atomic<std::uint32_t> waiting_;  // threads that wait for that
  std::atomic<std::uint32_t> active_;   // futex: how many assist
  std::atomic<bool> dismissed_;
  std::atomic<std::uint64_t> assisted_;
  std::atomic<std::uint32_t> joined_;               // each took a number of its own
  std::atomic<std::uint32_t> lives_[kMostHelpers];  // see tell_life()
  std::uint32_t started_;
};

}  // namespace uctrace::log
