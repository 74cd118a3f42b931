// How records are packed into the blocks of a log: the part that the encoder, which runs in the
// job, and the decoder share. docs/log-format.md describes the result, docs/performance.md why it
// is this one.
//
// Records of one kind look alike: the same call again, one handle, ids that count up. So a block
// keeps the words of the newest record of each kind that occurs in it, and by how much each word
// differed from the one before. A word that advances by the same step costs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "event-log/format/definitions.hpp"
#include "event-log/format/events.hpp"

namespace uctrace::log {

// A record begins with a token: the slot that holds its kind, with kSameCodes if its words take the
// same codes as those of the last record of the kind. Or one of these, which are not slots:
inline constexpr std::uint8_t kVerbatim = 126;   // the words of a record follow as they are
inline constexpr std::uint8_t kNewKind = 127;    // a slot, and the lower half of a head, for it
inline constexpr std::uint8_t kSameCodes = 128;  // or-ed to a slot
inline constexpr std::size_t kSlots = 126;

// A word takes three bits of code: 0 = it advances by the same step, else how many bytes hold its
// distance to the word before, zigzag-coded. Records that are too long for that are stored
// verbatim.
inline constexpr std::size_t kCodeBits = 3;
inline constexpr std::size_t kCodedWords = 64 / kCodeBits;
inline constexpr std::array<std::uint8_t, 8> kBytesOfCode = {0, 1, 2, 3, 4, 5, 6, 8};

constexpr std::size_t bytes_of_codes(std::size_t words) { return (words * kCodeBits + 7) / 8; }

constexpr std::uint64_t zigzag(std::uint64_t distance) {
  return distance << 1 ^ (std::uint64_t{0} - (distance >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t value) {
  return value >> 1 ^ (std::uint64_t{0} - (value & 1));
}

// The words of a record that hold its tick and its duration; 0 = it has none. A tick is predicted
// from the newest tick of the lane, whatever kind of record that was in. Packing knows nothing else
// about the layouts of records: a type that is not listed is also packed, but less tightly.
struct TimeWords {
  std::uint8_t tick, duration;
};

constexpr TimeWords time_words_of(RecordType type) {
  switch (type) {
    case RecordType::uct_operation:
    case RecordType::ucp_operation:
      return {2, 3};
    case RecordType::ucp_completion:
      return {2, 0};
    case RecordType::mpi_call:
    case RecordType::mpi_window_call:
    case RecordType::mpi_file_call:
    case RecordType::memory_call:
    case RecordType::library_call:
      return {1, 2};
    default:
      return {1, 0};
  }
}
static_assert(offsetof(UctOperation, start_tick) == 16 &&
              offsetof(UctOperation, duration_ticks) == 24);
static_assert(offsetof(UcpOperation, start_tick) == 16 &&
              offsetof(UcpOperation, duration_ticks) == 24);
static_assert(offsetof(UcpCompletion, tick) == 16 && offsetof(UctCompletion, tick) == 8);
static_assert(offsetof(MpiCall, start_tick) == 8 && offsetof(MpiCall, duration_ticks) == 16);
static_assert(offsetof(MemoryCall, start_tick) == 8 && offsetof(MemoryCall, duration_ticks) == 16);
static_assert(offsetof(LibraryCall, start_tick) == 8 &&
              offsetof(LibraryCall, duration_ticks) == 16);
static_assert(offsetof(MpiRequests, tick) == 8);
static_assert(offsetof(UctArrival, start_tick) == 8 && offsetof(UctPending, tick) == 8);

// The newest record of a kind.
struct CodecSlot {
  std::uint64_t words[kCodedWords];
  std::uint64_t steps[kCodedWords];  // from the one before
  std::uint64_t codes;
};

// Of a whole block; the checksum itself counts as 0.
inline std::uint64_t checksum_of(const std::uint64_t* block, std::size_t words) {
  std::uint64_t sum = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = i == offsetof(BlockHeader, checksum) / 8 ? 0 : block[i];
    sum = ((sum << 27 | sum >> 37) ^ word) * 0xff51afd7ed558ccd;
  }
  return sum;
}

}  // namespace uctrace::log
