#include "event-log/reader/block_decoder.hpp"

#include <algorithm>
#include <cstring>

namespace uctrace::log {
namespace {

// A token yields one record of at most kCodedWords, or as many words as follow it.
constexpr std::uint64_t kMostGrowth = kCodedWords * 8;

class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> packed, std::span<std::uint64_t> records)
      : packed_(packed), records_(records) {}

  bool run() {
    while (!records_.empty()) {
      if (!decode_record()) return false;
    }
    return std::all_of(packed_.begin(), packed_.end(), [](std::uint8_t byte) { return byte == 0; });
  }

 private:
  bool take(void* to, std::size_t bytes) {
    if (bytes > packed_.size()) return false;
    std::memcpy(to, packed_.data(), bytes);
    packed_ = packed_.subspan(bytes);
    return true;
  }

  // The same for the lower bytes of a number. Except at the end, eight bytes can be read at once.
  bool take_value(std::uint64_t& value, std::size_t bytes) {
    if (packed_.size() < sizeof value) return take(&value, bytes);
    std::memcpy(&value, packed_.data(), sizeof value);
    value &= UINT64_MAX >> (64 - 8 * bytes);
    packed_ = packed_.subspan(bytes);
    return true;
  }

  bool decode_record() {
    std::uint8_t token = 0;
    if (!take(&token, 1)) return false;
    if (token == kVerbatim) return copy_record();
    if (token == kNewKind) {
      std::uint8_t number = 0;
      std::uint32_t kind = 0;
      if (!take(&number, 1) || !take(&kind, sizeof kind) || number >= kSlots) return false;
      kinds_[number] = kind;
      slots_[number] = {};
      if (!take(&token, 1)) return false;
    }
    const std::size_t number = token & ~kSameCodes;
    if (number >= kSlots || kinds_[number] == 0) return false;
    return decode_words(kinds_[number], slots_[number], (token & kSameCodes) != 0);
  }

  bool copy_record() {
    std::uint64_t head = 0;
    if (packed_.size() < sizeof head) return false;
    std::memcpy(&head, packed_.data(), sizeof head);
    const std::size_t words = head >> 8 & 0xff;
    if (words <= kCodedWords || words > records_.size()) return false;
    if (!take(records_.data(), words * 8)) return false;
    records_ = records_.subspan(words);
    return true;
  }

  bool decode_words(std::uint32_t kind, CodecSlot& slot, bool same_codes) {
    const std::size_t words = kind >> 8 & 0xff;
    if (words == 0 || words > kCodedWords || words > records_.size()) return false;
    if (!same_codes) {
      slot.codes = 0;
      if (!take(&slot.codes, bytes_of_codes(words))) return false;
    }
    const TimeWords time = time_words_of(static_cast<RecordType>(kind & 0xff));
    if (time.tick < words) {
      slot.words[time.tick] = tick_;
      slot.steps[time.tick] = 0;
    }
    for (std::size_t i = 0; i < words; ++i) {
      const std::size_t code = slot.codes >> i * kCodeBits & 7;
      if (code != 0) {
        std::uint64_t value = 0;
        if (!take_value(value, kBytesOfCode[code])) return false;
        slot.steps[i] = unzigzag(value);
      }
      records_[i] = slot.words[i] += slot.steps[i];
    }
    records_[0] = records_[0] << 32 | kind;
    if (time.tick < words) tick_ = records_[time.tick];
    records_ = records_.subspan(words);
    return true;
  }

  std::span<const std::uint8_t> packed_;
  std::span<std::uint64_t> records_;
  std::uint64_t tick_ = 0;
  std::uint32_t kinds_[kSlots] = {};
  CodecSlot slots_[kSlots];
};

}  // namespace

const BlockHeader* block_at(std::span<const std::uint64_t> words) {
  if (words.size_bytes() < sizeof(BlockHeader)) return nullptr;
  const auto* block = reinterpret_cast<const BlockHeader*>(words.data());
  const bool fits = block->bytes % kBlockAlignment == 0 && block->bytes >= sizeof *block &&
                    block->bytes <= words.size_bytes();
  if (block->magic != kBlockMagic || !fits || block->lane >= kMaxLanes ||
      block->stream < Stream::events || block->stream > Stream::definitions ||
      block->sequence == 0 || block->first < sizeof(ChunkHeader) || block->raw_bytes % 8 != 0 ||
      block->raw_bytes > kMaxChunkBytes || block->raw_bytes > block->bytes * kMostGrowth) {
    return nullptr;
  }
  return checksum_of(words.data(), block->bytes / 8) == block->checksum ? block : nullptr;
}

bool decode_block(const BlockHeader& block, std::span<std::uint64_t> records) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&block);
  return Decoder(std::span(bytes, block.bytes).subspan(sizeof block),
                 records.first(block.raw_bytes / 8))
      .run();
}

}  // namespace uctrace::log
