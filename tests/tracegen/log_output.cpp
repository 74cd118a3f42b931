#include "tests/tracegen/log_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace uctrace::tracegen {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

void write_at(int fd, const std::string& name, const unsigned char* from, std::size_t bytes,
              std::uint64_t at) {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(fd, from, bytes, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw std::system_error(errno, std::generic_category(), "write " + name);
    from += written;
    bytes -= static_cast<std::size_t>(written);
    at += static_cast<std::uint64_t>(written);
  }
}

}  // namespace

LogOutput::LogOutput(const std::filesystem::path& path, std::uint64_t max_event_bytes)
    : fd_(path.empty() ? -1 : ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)),
      name_(path.string()),
      max_event_bytes_(max_event_bytes) {
  if (fd_ < 0 && !path.empty())
    throw std::system_error(errno, std::generic_category(), "create " + name_);
  buffer_.reserve(kBufferBytes + log::kMostBlockBytes);
}

LogOutput::~LogOutput() {
  if (fd_ >= 0) ::close(fd_);
}

void LogOutput::append(const log::BlockHeader* block) {
  if (max_event_bytes_ == 0) {
    put(block, block->bytes);
  } else {
    put_into_slot(block);
  }
}

void LogOutput::put_into_slot(const log::BlockHeader* block) {
  Bytes& slot = slot_for(*block);
  const auto* begin = reinterpret_cast<const unsigned char*>(block);
  slot.insert(slot.end(), begin, begin + block->bytes);
}

// The slot being filled, if there is room; otherwise a new one, or the oldest.
LogOutput::Bytes& LogOutput::slot_for(const log::BlockHeader& block) {
  const bool events = block.stream == log::Stream::events;
  const std::size_t newest = !events              ? of_definitions_
                             : of_events_.empty() ? kNoSlot
                                                  : of_events_.back();
  if (newest != kNoSlot && slots_[newest].size() + block.bytes <= kSlotBytes) {
    return slots_[newest];
  }
  std::size_t next = slots_.size();
  if (events && of_events_.size() == max_event_bytes_ / kSlotBytes) {
    next = of_events_.front();
    of_events_.erase(of_events_.begin());
    clear(slots_[next]);
  } else {
    slots_.emplace_back();
  }
  if (events) {
    of_events_.push_back(next);
  } else {
    of_definitions_ = next;
  }
  return slots_[next];
}

// Its contents are lost.
void LogOutput::clear(Bytes& slot) {
  for (std::size_t at = 0; at < slot.size();) {
    log::BlockHeader block;
    std::memcpy(&block, slot.data() + at, sizeof block);
    if (overwritten_.size() <= block.lane) overwritten_.resize(block.lane + 1u);
    Overwritten& lost = overwritten_[block.lane];
    for (std::size_t kind = 0; kind < log::kDropKinds; ++kind) {
      lost.records[kind] += block.records[kind];
    }
    lost.until_tick = std::max(lost.until_tick, block.last_tick);
    at += block.bytes;
  }
  slot.clear();
}

Overwritten LogOutput::overwritten(std::uint16_t lane) const {
  return lane < overwritten_.size() ? overwritten_[lane] : Overwritten{};
}

void LogOutput::write_slots() {
  for (Bytes& slot : slots_) {
    const auto rest = static_cast<std::uint32_t>(kSlotBytes - slot.size());
    const log::GapHeader gap{log::kGapMagic, rest};
    slot.resize(kSlotBytes);
    if (rest != 0) std::memcpy(slot.data() + kSlotBytes - rest, &gap, sizeof gap);
    put(slot.data(), slot.size());
  }
}

void LogOutput::put(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const unsigned char*>(from);
  buffer_.insert(buffer_.end(), begin, begin + bytes);
  size_ += bytes;
  if (buffer_.size() >= kBufferBytes) write_buffer();
}

void LogOutput::write_buffer() {
  if (fd_ >= 0) write_at(fd_, name_, buffer_.data(), buffer_.size(), size_ - buffer_.size());
  buffer_.clear();
}

void LogOutput::finish(const log::ProcessPage& page, const std::vector<log::LaneInfo>& lanes) {
  write_slots();
  write_buffer();
  if (fd_ < 0) return;
  log::ProcessPage whole = page;
  whole.magic = log::kMagic;
  whole.version = log::kFormatVersion;
  whole.page_bytes = log::kProcessPageBytes;
  whole.lanes_used = static_cast<std::uint32_t>(lanes.size());
  whole.allocated_bytes = size_;
  whole.max_event_bytes = max_event_bytes_;
  buffer_.assign(log::kProcessPageBytes, 0);
  std::memcpy(buffer_.data(), &whole, sizeof whole);
  std::memcpy(buffer_.data() + log::kLanesOffset, lanes.data(),
              lanes.size() * sizeof(log::LaneInfo));
  write_at(fd_, name_, buffer_.data(), buffer_.size(), 0);
  buffer_ = {};
}

std::uint64_t LogOutput::cut(std::uint64_t bytes) {
  const std::uint64_t most = size_ - log::kProcessPageBytes;
  const std::uint64_t gone = std::min(bytes, most);
  if (::ftruncate(fd_, static_cast<off_t>(size_ - gone)) != 0) {
    throw std::system_error(errno, std::generic_category(), "cut " + name_);
  }
  return gone;
}

RecordStream::RecordStream(LogOutput& out, const HostClock& clock, std::uint16_t lane,
                           log::Stream stream)
    : out_(out),
      clock_(clock),
      block_(std::make_unique<std::uint64_t[]>(log::kMostBlockBytes / sizeof(std::uint64_t))) {
  chunk_.magic = log::kChunkMagic;
  chunk_.bytes = log::kMinChunkBytes;
  chunk_.lane = lane;
  chunk_.stream = stream;
}

void RecordStream::open_chunk(std::int64_t true_ns) {
  ++chunk_.sequence;
  chunk_.anchor = clock_.anchor(true_ns);
  at_ = sizeof(log::ChunkHeader);
}

void RecordStream::end_block() {
  if (!in_block_) return;
  encoder_.end();
  out_.append(reinterpret_cast<const log::BlockHeader*>(block_.get()));
  in_block_ = false;
}

void RecordStream::add(const std::uint64_t* record, std::int64_t true_ns) {
  const auto bytes = static_cast<std::uint32_t>((record[0] >> 8 & 0xff) * sizeof(std::uint64_t));
  if (at_ == 0 || at_ + bytes > chunk_.bytes) {
    end_block();
    open_chunk(true_ns);
  }
  if (!in_block_ || !encoder_.add(record)) {
    end_block();
    encoder_.begin(chunk_, at_, block_.get(), log::kMostBlockBytes);
    in_block_ = true;
    encoder_.add(record);
  }
  at_ += bytes;
}

void RecordStream::finish() { end_block(); }

}  // namespace uctrace::tracegen
