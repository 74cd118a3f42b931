// Shared by packing chunks (packer.cpp, packer_chunks.cpp) and ending the log (packer_end.cpp).
// Private to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/recorder/block_file.hpp"
#include "event-log/recorder/chunk_turns.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/packing_team.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/removed_log.hpp"
#include "event-log/recorder/work_share.hpp"

namespace uctrace::log {

// A part of the log that is written as it changes: the page, or a table of lanes.
struct Part {
  unsigned char* live;     // where threads count
  unsigned char* copy;     // to be written to the file
  unsigned char* written;  // what the file has, for a drained log
  std::size_t bytes;
  std::uint64_t at;  // in the file
  std::size_t lanes_offset;
};

struct Packer {
  static constexpr std::uint32_t kRunning = 0, kStopAsked = 1, kStopped = 2;
  static constexpr std::uint32_t kLeft = 3;  // its thread left, because it could not wait; the log
                                             // stays open

  OutputLog file;
  bool threaded;
  bool removed;
  std::atomic<int> error;                  // of the last write; 0 = it went well
  std::atomic<std::uint32_t> work;         // futex: moves on when a chunk was retired
  std::atomic<std::uint32_t> state;        // futex
  std::atomic<std::uint64_t> progress;     // moves on with every write that succeeded
  std::atomic<std::uint64_t> write_begun;  // when the current storage call began; 0 = there is none
  std::atomic<std::uint32_t> lives;        // id of its own thread: 0 once that is gone
  std::atomic<bool> busy;                  // without a helper: a thread packs
  std::atomic<std::size_t> ready_target;
  std::uint64_t seen_retirements;  // the helper's
  std::uint64_t last_turn;         // of the last turn that wrote everything
  std::uint64_t turn_interval_ns;
  BlockFile blocks;
  Desk desk;
  PackingTeam* team;  // set before its threads and the packer's start; nullptr: nobody ever assists
  WorkShare share;
  bool callers_assist;  // threads of the program, while they wait for a chunk
  bool together;        // in this turn
  Place *order[kPlaces], *taken[kPlaces];
  ChunkTurns turns;
  Part parts[1 + kMostLaneTables];  // the page first
  std::size_t part_count;
  alignas(8) unsigned char page[kProcessPageBytes];
  alignas(8) unsigned char written[kProcessPageBytes];

  bool is_mapped() const { return file.storage == Storage::mapped; }
};
extern Packer* packer;

// Notes whether a write to the file succeeded, with errno if not. Returns `ok`.
bool note_write(bool ok);

// Which chunks: those that threads have left; and of those that threads hold, none, the ones with
// definitions, or all.
enum class Chunks { retired, retired_and_definitions, all };
// Fills packer->order: definitions first, each stream in the order in which its chunks retired.
// Returns their number.
std::size_t chunks_in_order(Chunks which);
// False: the file takes no more now.
bool pack_chunks(Chunks which);
bool write_block(const BlockHeader& block);
std::uint32_t first_unpacked(const Place& place);
// Whether a record was begun after the packed ones and is not published (yet).
bool is_unfinished(const Place& place);

// Whether threads may soon need more lanes than there are, and there can be more.
bool wants_lanes();
// If so, adds a table of lanes to the log. If that fails, pool.lanes says why.
void add_lane_table();

// --- packer_end.cpp ------------------------------------------------------------------------------

// Copies the present page and tables.
void copy_parts();
// Writes the copies that changed: a waiting rank must not write to a shared file system.
void write_changed_parts();
// The lane in the copies. nullptr: there is no such lane.
LaneInfo* copied_lane(std::size_t index);
// Packs everything, and counts threads that were inside a record. False: the file takes no more.
bool pack_all();
// Packs everything, counts what cannot be packed, and marks the end.
void close_log();

}  // namespace uctrace::log
