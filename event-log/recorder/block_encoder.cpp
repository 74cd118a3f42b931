#include "event-log/recorder/block_encoder.hpp"

#include <string.h>

namespace uctrace::log {
namespace {

// The most that a record takes besides its words: a new kind, a token, codes, and the excess of
// copying whole words.
constexpr std::size_t kOverhead = 6 + 1 + bytes_of_codes(kCodedWords) + 8;
constexpr std::size_t kProbes = 8;

constexpr std::size_t words_of(std::uint64_t head) { return head >> 8 & 0xff; }

// The code of a distance that differs from the last one.
std::uint64_t code_of(std::uint64_t zigzagged) {
  static constexpr std::uint8_t kCodes[9] = {1, 1, 2, 3, 4, 5, 6, 7, 7};  // by bytes
  const auto bits = static_cast<std::size_t>(64 - __builtin_clzll(zigzagged | 1));
  return kCodes[(bits + 7) / 8];
}

}  // namespace

void BlockEncoder::begin(const ChunkHeader& chunk, std::uint32_t first, std::uint64_t* block,
                         std::size_t room) {
  header_ = {};
  header_.magic = kBlockMagic;
  header_.lane = chunk.lane;
  header_.stream = chunk.stream;
  header_.sequence = chunk.sequence;
  header_.first = first;
  header_.anchor = chunk.anchor;
  block_ = block;
  at_ = reinterpret_cast<std::uint8_t*>(block) + sizeof header_;
  end_ = reinterpret_cast<std::uint8_t*>(block) + room;
  tick_ = 0;
  memset(kinds_, 0, sizeof kinds_);
}

// The slot of this kind, or one to use for it. The search looks at few places, given by the kind
// alone, so a program with more kinds than slots does not make it slow.
std::size_t BlockEncoder::slot_of(std::uint32_t kind) {
  const std::size_t first = (kind * std::uint64_t{0x9e3779b97f4a7c15} >> 32) % kSlots;
  std::size_t slot = first;
  for (std::size_t i = 0; i < kProbes; ++i) {
    if (kinds_[slot] == kind || kinds_[slot] == 0) return slot;
    slot = slot + 1 == kSlots ? 0 : slot + 1;
  }
  return first;
}

// Writes the distances of `words` words at `to`, up to 8 bytes beyond them, and returns their
// codes.
std::uint64_t BlockEncoder::encode_words(const std::uint64_t* record, std::size_t words,
                                         CodecSlot& slot, std::uint8_t*& to) {
  std::uint64_t codes = 0;
  std::uint64_t word = record[0] >> 32;
  for (std::size_t i = 0;;) {
    const std::uint64_t distance = word - slot.words[i];
    if (distance != slot.steps[i]) {
      const std::uint64_t zigzagged = zigzag(distance);
      const std::uint64_t code = code_of(zigzagged);
      memcpy(to, &zigzagged, sizeof zigzagged);
      to += kBytesOfCode[code];
      codes |= code << i * kCodeBits;
      slot.steps[i] = distance;
    }
    slot.words[i] = word;
    if (++i == words) return codes;
    word = record[i];
  }
}

bool BlockEncoder::add(const std::uint64_t* record) {
  const std::size_t words = words_of(record[0]);
  if (static_cast<std::size_t>(end_ - at_) < words * 8 + kOverhead) return false;
  note(record, words);
  if (words > kCodedWords) {
    *at_++ = kVerbatim;
    memcpy(at_, record, words * 8);
    at_ += words * 8;
    return true;
  }
  const auto kind = static_cast<std::uint32_t>(record[0]);
  const std::size_t number = slot_of(kind);
  CodecSlot& slot = slots_[number];
  if (kinds_[number] != kind) {
    kinds_[number] = kind;
    slot = {};
    *at_++ = kNewKind;
    *at_++ = static_cast<std::uint8_t>(number);
    memcpy(at_, &kind, sizeof kind);
    at_ += sizeof kind;
  }
  const TimeWords time = time_words_of(static_cast<RecordType>(kind & 0xff));
  if (time.tick < words) {
    slot.words[time.tick] = tick_;
    slot.steps[time.tick] = 0;
    tick_ = record[time.tick];
  }
  // Mostly the codes are the same as last time, and the distances can stay where they are.
  std::uint8_t* const token = at_++;
  std::uint8_t* const distances = at_;
  const std::uint64_t codes = encode_words(record, words, slot, at_);
  *token = static_cast<std::uint8_t>(number);
  if (codes == slot.codes) {
    *token |= kSameCodes;
    return true;
  }
  slot.codes = codes;
  const std::size_t code_bytes = bytes_of_codes(words);
  memmove(distances + code_bytes, distances, static_cast<std::size_t>(at_ - distances));
  memcpy(distances, &codes, code_bytes);
  at_ += code_bytes;
  return true;
}

// The header's summary of the records.
void BlockEncoder::note(const std::uint64_t* record, std::size_t words) {
  const auto type = static_cast<RecordType>(record[0] & 0xff);
  ++header_.records[static_cast<std::size_t>(drop_kind_of(type))];
  header_.raw_bytes += static_cast<std::uint32_t>(words * 8);
  const TimeWords time = time_words_of(type);
  if (time.tick < words) {
    const std::uint64_t duration =
        time.duration != 0 && time.duration < words ? record[time.duration] : 0;
    const std::uint64_t end_tick = record[time.tick] + duration;
    header_.last_tick = end_tick > header_.last_tick ? end_tick : header_.last_tick;
  }
}

std::size_t BlockEncoder::end(std::uint8_t flags) {
  auto* const base = reinterpret_cast<std::uint8_t*>(block_);
  const auto used = static_cast<std::size_t>(at_ - base);
  const std::size_t bytes = (used + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  memset(at_, 0, bytes - used);
  header_.bytes = static_cast<std::uint32_t>(bytes);
  header_.flags = flags;
  memcpy(base, &header_, sizeof header_);
  header_.checksum = checksum_of(block_, bytes / 8);
  memcpy(base, &header_, sizeof header_);
  return bytes;
}

}  // namespace uctrace::log
