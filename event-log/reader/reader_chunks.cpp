// Finds the blocks and chunks of a log, unpacks them and puts them in order.
#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "event-log/reader/block_decoder.hpp"
#include "event-log/reader/reader.hpp"

namespace uctrace::log {
namespace {

bool is_valid(const ChunkHeader& header) {
  return header.magic == kChunkMagic && std::has_single_bit(header.bytes) &&
         header.bytes >= kMinChunkBytes && header.bytes <= kMaxChunkBytes &&
         (header.sequence == 0 || (header.lane < kMaxLanes && header.stream >= Stream::events &&
                                   header.stream <= Stream::definitions));
}

// Space that was allocated but not yet written when the file was read.
bool is_blank(Words words) {
  const std::size_t looked_at = std::min(words.size(), kBlockAlignment / sizeof(std::uint64_t));
  return std::all_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(looked_at),
                     [](std::uint64_t word) { return word == 0; });
}

template <typename Header>
Header header_of(Words words) {
  Header header;
  std::memcpy(&header, words.data(), sizeof header);
  return header;
}

// A chunk that was being made when the file was read or the process was killed: its magic is stored
// last, and no thread has used it.
bool is_unmade(Words words) {
  const auto header = header_of<ChunkHeader>(words);
  return header.magic == 0 && header.sequence == 0;
}

}  // namespace

// The size of the chunk that begins here, as far as it was read; 0 = there is none.
std::size_t LogFile::take_chunk(const FileWords& in, std::size_t offset) {
  const Words words = in.from(offset);
  const auto header = header_of<ChunkHeader>(words);
  if (!is_valid(header)) return 0;
  const std::size_t there = std::min<std::size_t>(in.bytes() - offset, header.bytes);
  // A hole holds no record.
  const std::size_t read = std::min(words.size_bytes(), there);
  damage_.truncated_bytes += header.bytes - there;
  if (header.sequence != 0) {
    anchors_.push_back(header.anchor);
    chunks_.push_back({.stream = header.stream,
                       .lane = header.lane,
                       .sequence = header.sequence,
                       .first = sizeof header,
                       .records = words.first(read / sizeof(std::uint64_t))
                                      .subspan(sizeof header / sizeof(std::uint64_t)),
                       .block = nullptr,
                       .counted = {}});
  }
  return there;
}

// The same for a block, a gap, or a table of lanes.
std::size_t LogFile::take_block(const FileWords& in, std::size_t offset) {
  const Words words = in.from(offset);
  const auto gap = header_of<GapHeader>(words);
  if (gap.magic == kLanesMagic && gap.bytes == kLaneTableBytes) {
    return std::min<std::size_t>(in.bytes() - offset, gap.bytes);
  }
  if (gap.magic == kGapMagic && gap.bytes >= kBlockAlignment && gap.bytes % kBlockAlignment == 0) {
    return std::min<std::size_t>(in.bytes() - offset, gap.bytes);
  }
  const BlockHeader* block = block_at(words);
  if (block == nullptr) return 0;
  anchors_.push_back(block->anchor);
  if ((block->flags & BlockHeader::kUnfinished) != 0) {
    ++damage_.unpublished_records;
  } else {
    chunks_.push_back({.stream = block->stream,
                       .lane = block->lane,
                       .sequence = block->sequence,
                       .first = block->first,
                       .records = {},
                       .block = block,
                       .counted = {}});
  }
  return block->bytes;
}

void LogFile::find_chunks(const FileWords& in, std::size_t offset) {
  bool lost = false;
  for (offset = in.next_data(offset); in.bytes() >= offset + sizeof(ChunkHeader);
       offset = in.next_data(offset)) {
    const Words words = in.from(offset);
    if (words.size_bytes() < sizeof(ChunkHeader)) break;  // the end of the file
    std::size_t step = take_chunk(in, offset);
    if (step == 0) step = take_block(in, offset);
    if (step != 0) {
      if (lost) ++damage_.resyncs;
      lost = false;
    } else {
      step = std::min(in.bytes() - offset, kBlockAlignment);
      const bool unused = is_blank(words) || (&in == &live_ && is_unmade(words));
      if (!is_in_flux(in, offset) && (lost || !unused)) {
        if (!lost) ++damage_.bad_chunks;
        lost = true;
        damage_.skipped_bytes += step;
      }
    }
    offset += step;
  }
}

// A block there may have been written or overwritten while it was read, or when the process was
// killed. The counters show how many records are missing.
bool LogFile::is_in_flux(const FileWords& in, std::size_t offset) const {
  return &in == &file_ && page_.closed == 0 &&
         (offset >= page_.allocated_bytes || page_.max_event_bytes != 0);
}

// A process that is still writing may have grown its files since it wrote their sizes.
void LogFile::note_cut_files() {
  const auto cut = [](std::uint64_t should_be, std::uint64_t is) {
    return should_be > is ? should_be - is : 0;
  };
  if (page_.allocated_bytes > file_.bytes()) {
    damage_.truncated_bytes = cut(page_.allocated_bytes, file_.bytes());
  }
  damage_.truncated_bytes += cut(page_.live_bytes, live_.bytes());
}

// `room` is reused for each block: an unpacked log may be 168 times as large.
bool LogFile::unpack(const Chunk& chunk, std::vector<std::uint64_t>& room, Words& records) {
  const std::size_t count = chunk.block->raw_bytes / sizeof(std::uint64_t);
  if (room.size() < count) room.resize(count);
  records = std::span(room).first(count);
  return decode_block(*chunk.block, std::span(room).first(count));
}

Words LogFile::records_of(const Chunk& chunk, std::vector<std::uint64_t>& room) {
  if (chunk.block == nullptr) return chunk.records;
  Words records;
  unpack(chunk, room, records);  // check_blocks() kept only valid ones
  return records;
}

void LogFile::check_blocks() {
  std::vector<std::uint64_t> room;
  std::erase_if(chunks_, [&](Chunk& chunk) {
    if (chunk.block == nullptr) return false;
    Words records;
    const bool good = unpack(chunk, room, records);
    if (good) {
      chunk.counted = count(chunk, records);
    } else {
      ++damage_.bad_chunks;
    }
    return !good;
  });
}

// Within a chunk packed records come first.
void LogFile::order_chunks() {
  const auto place = [](const Chunk& c) {
    return std::tuple(c.stream, c.lane, c.sequence, c.block == nullptr, c.first);
  };
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [&](const Chunk& a, const Chunk& b) { return place(a) < place(b); });
}

// Keeps every record once: a chunk may still exist when some or all of it is packed.
void LogFile::join_chunks() {
  std::vector<Chunk> joined;
  joined.reserve(chunks_.size());
  std::uint64_t end = 0;  // how far the chunk of joined.back() was read
  for (Chunk& chunk : chunks_) {
    const Chunk* previous = joined.empty() ? nullptr : &joined.back();
    const bool same_stream =
        previous != nullptr && previous->stream == chunk.stream && previous->lane == chunk.lane;
    const bool same_chunk = same_stream && previous->sequence == chunk.sequence;
    if (!same_chunk) end = sizeof(ChunkHeader);
    const bool packed = chunk.block != nullptr;
    const bool twice = packed ? chunk.first < end : same_chunk && previous->block == nullptr;
    if (twice) {
      ++damage_.bad_chunks;
      continue;
    }
    std::uint64_t missing = packed && chunk.first > end ? 1 : 0;
    if (!same_chunk) missing += chunk.sequence - (same_stream ? previous->sequence : 0) - 1;
    if (missing > 0 && !may_lack_events_before(chunk, !same_stream)) {
      // With a living process: the chunk was begun after the place of the one before it had been
      // read.
      if (live_.changed) continue;
      damage_.missing_chunks += missing;
    }
    if (packed) {
      end = chunk.first + chunk.bytes();
    } else {
      const std::uint64_t known = (end - sizeof(ChunkHeader)) / sizeof(std::uint64_t);
      chunk.records = chunk.records.subspan(std::min<std::size_t>(known, chunk.records.size()));
    }
    joined.push_back(chunk);
  }
  chunks_ = std::move(joined);
}

// Chunks before it may have been overwritten: the first events of a lane and, while the process
// writes, later ones that came after that part of the file was read.
bool LogFile::may_lack_events_before(const Chunk& chunk, bool is_first) const {
  return chunk.stream == Stream::events && page_.max_event_bytes != 0 &&
         (is_first || page_.closed == 0);
}

Words LogFile::RecordWalk::next() {
  constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
  if (rest_.empty()) {
    end_ = End::clean;
    return {};
  }
  const std::uint64_t head = rest_[0];
  if (head == 0) {
    // Whether all are zero: each word equals the one before it, and the first is zero.
    const bool untouched =
        std::memcmp(rest_.data(), rest_.data() + 1, rest_.size_bytes() - kWordBytes) == 0;
    end_ = untouched ? End::clean : End::unpublished;
    return {};
  }
  const std::size_t words = head >> 8 & 0xff;
  if (words == 0 || words > rest_.size()) {
    end_ = End::impossible_size;
    return {};
  }
  const Words record = rest_.first(words);
  rest_ = rest_.subspan(words);
  return record;
}

}  // namespace uctrace::log
