// Threads that share the packer's work. They only encode: each takes a chunk and builds its first
// block at a desk. The packer encodes as well; it alone writes blocks, in the order of the chunks,
// and makes chunks ready again. So the log is the same as that of a single thread, except for the
// last block of a slot, which may hold more. These threads make system calls only to wait. With
// `record --never-drop` the program's threads join the team while they wait for a chunk. The packer
// waits for them for a bounded time only: a signal handler may leave the encoding by longjmp. The
// chunk of such a thread is packed at another desk, and is not reused until the thread returns.
// Its benefit: docs/performance.md. Private to the packer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/helpers.hpp"
#include "event-log/recorder/block_encoder.hpp"

namespace uctrace::log {

// Chunks of a turn that may be encoded ahead of the one that is written.
inline constexpr std::size_t kDesks = 16;

// Where a block is built.
struct Desk {
  BlockEncoder encoder;
  std::uint64_t block[kMostBlockBytes / 8];
  std::uint32_t to;  // the first record of the chunk that is not in the block

  const BlockHeader& header() const { return *reinterpret_cast<const BlockHeader*>(block); }
  // Builds a block of at most `room` bytes of the records from `from` on. If there are none: to ==
  // from.
  void encode(const ChunkHeader& chunk, std::uint32_t from, std::size_t room);
};

// A turn: chunks get numbers from 0 on, and number n goes to desk n % kDesks. Only the packer calls
// these functions, except join(), encode_one() and encode_in_call().
class PackingTeam {
 public:
  // nullptr: there is no memory for it.
  static PackingTeam* make();

  // False: a thread that was not waited for still has the desk of this number.
  bool give(std::size_t number, const ChunkHeader& chunk, std::uint32_t from);
  // Encodes free chunks until the chunk with this number, which was given, is encoded. nullptr: a
  // thread of the program took it and does not return.
  Desk* wait_for(std::size_t number);
  // The wall time of its encoding.
  std::uint64_t encoding_ns(std::size_t number) const {
    return places_[number % kDesks].encoding_ns;
  }
  // Its block is written: the desk is free again.
  void put_away(std::size_t number);
  // Takes back chunks that were given and not waited for.
  void take_back();
  // Whether a thread that was not waited for may still read it.
  bool is_held(const ChunkHeader& chunk) const;
  // Such a chunk; nullptr: there is none. For tests.
  const ChunkHeader* held_chunk() const;

  // Encodes the oldest given chunk that nobody has taken. False: there is none.
  bool encode_one(std::uint32_t worker);
  // The same for a thread of the program.
  bool encode_in_call() { return encode_one(kCaller); }
  // Adds the calling thread to the team. Returns its number.
  std::uint32_t join();

  // Starts this many threads, which rest at first. Once, and only for packer->team. Returns how
  // many started: the process may have no more.
  std::uint32_t start(std::uint32_t threads);
  // From now on this many threads assist, as far as they exist; the others rest. False: none
  // assists.
  bool hire(std::uint32_t threads);
  // How many threads run, including resting ones. A thread that has not reached its first line does
  // not count yet.
  std::uint32_t threads() const;
  // How many chunks were encoded by threads other than the packer.
  std::uint64_t assisted() const { return assisted_.load(std::memory_order_relaxed); }
  // Ends the threads.
  void dismiss();

 private:
  // The owner of the desk; assistants have their number above kPacker. kLeft: a thread of the
  // program that was not waited for; it will free the desk.
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
  // False: nobody waits for it any more.
  bool wait_while_taken(Place& place, std::uint64_t since_ns);
  Place& place_of(std::size_t number) { return places_[number % kDesks]; }

  Place places_[kDesks];
  std::atomic<std::size_t> oldest_;     // the number being waited for: where searches begin
  std::atomic<std::uint32_t> offers_;   // futex: changes when a chunk is given
  std::atomic<std::uint32_t> waiting_;  // threads that wait for that
  std::atomic<std::uint32_t> active_;   // futex: how many assist
  std::atomic<bool> dismissed_;
  std::atomic<std::uint64_t> assisted_;
  std::atomic<std::uint32_t> joined_;               // each took the next number
  std::atomic<std::uint32_t> lives_[kMostHelpers];  // see tell_life()
  std::uint32_t started_;
};

}  // namespace uctrace::log
