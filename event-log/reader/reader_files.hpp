// The bytes of a log's files in memory. Private to event-log/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "event-log/format/file_layout.hpp"
#include "event-log/reader/input_file.hpp"

namespace uctrace::log {

// Throws if there is not enough memory; `name` is the log's.
std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name);

// A file, as far as it was read. Its holes take no memory.
class FileWords {
 public:
  FileWords() = default;
  // Makes room for `bytes` of a file with `size` bytes.
  FileWords(std::size_t bytes, std::size_t size, const std::string& name)
      : bytes_(size), words_(allocate(bytes, name)) {}

  std::size_t bytes() const { return bytes_; }  // of the file, holes included

  // The words from `offset`, a multiple of their size, to the next hole.
  std::span<const std::uint64_t> from(std::size_t offset) const { return words_at(offset); }
  // Copies the bytes of [offset, offset + bytes) that were read, and returns how many.
  std::size_t copy(void* to, std::size_t bytes, std::size_t offset) const;
  // `offset`, or the end of the hole that contains it; bytes() = no more data.
  std::size_t next_data(std::size_t offset) const;

  // Reads the extents, up to the present end of the file. Offset 0 is at `origin` of the file.
  template <typename File>
  void read(const File& file, const std::vector<Extent>& extents, std::size_t origin = 0) {
    for (const Extent& extent : extents) {
      const std::size_t wanted = extent.end - extent.begin;
      const std::size_t got = file.read(words_.get() + used_, wanted, extent.begin);
      append(extent.begin - origin, got);
      if (got < wanted) {
        bytes_ = extent.begin - origin + got;
        return;
      }
    }
  }
  void append(std::size_t begin, std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(words_.get() + used_, bytes.data(), bytes.size());
    append(begin, bytes.size());
  }
  // The same as from(), but writable.
  std::span<std::uint64_t> words_at(std::size_t offset) const;

  std::size_t memory_bytes() const { return used_ * sizeof(std::uint64_t); }
  bool same(const FileWords& other) const;

  bool changed = false;  // a chunk changed its owner, or was made, during the reading

 private:
  struct Part {
    std::size_t begin, end;  // in the file
    std::size_t at;          // of its first word
  };

  // The first part that ends after `offset`.
  std::vector<Part>::const_iterator part_at(std::size_t offset) const;

  void append(std::size_t begin, std::size_t count) {
    if (count == 0) return;
    if (!parts_.empty() && parts_.back().end == begin) {
      parts_.back().end += count;
    } else {
      parts_.push_back({begin, begin + count, used_});
    }
    used_ += (count + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  }

  std::size_t bytes_ = 0, used_ = 0;
  std::unique_ptr<std::uint64_t[]> words_;
  std::vector<Part> parts_;  // ascending; they begin at multiples of a word
};

inline std::size_t bytes_in(const std::vector<Extent>& extents) {
  std::size_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.end - extent.begin + sizeof(std::uint64_t);
  return bytes;
}

// The parts of the extents before `end`.
inline std::vector<Extent> cut_at(std::vector<Extent> extents, std::size_t end) {
  std::erase_if(extents, [&](const Extent& extent) { return extent.begin >= end; });
  if (!extents.empty()) extents.back().end = std::min(extents.back().end, end);
  return extents;
}

// Reads `bytes` of chunks from `begin` on, without those that changed their owner during the
// reading: these had been packed, so their records are in the log, which is read later. `changed`:
// some of the others may lack the chunk before them, because that one was begun in a place already
// read or after the old end of the file.
template <typename File>
FileWords read_chunks(const File& file, const std::string& name, std::size_t begin,
                      std::size_t bytes) {
  const std::size_t size = file.size();
  const std::vector<Extent> extents = cut_at(file.data(begin), begin + bytes);
  FileWords live(bytes_in(extents), bytes, name);
  live.read(file, extents, begin);
  const auto chunk_from = [&](std::size_t at) {
    return (live.next_data(at) + kMinChunkBytes - 1) / kMinChunkBytes * kMinChunkBytes;
  };
  for (std::size_t at = chunk_from(0); at + sizeof(ChunkHeader) <= live.bytes();
       at = chunk_from(at + kMinChunkBytes)) {
    const std::span<std::uint64_t> read = live.words_at(at);
    ChunkHeader now{};
    if (read.size_bytes() < sizeof now || file.read(&now, sizeof now, begin + at) != sizeof now) {
      continue;
    }
    if (std::memcmp(read.data(), &now, sizeof now) != 0) {
      live.changed = true;
      now.sequence = 0;
      std::memcpy(read.data(), &now, sizeof now);
    }
  }
  live.changed = live.changed || file.size() != size;
  return live;
}

// The same for a file that contains only chunks.
template <typename File>
FileWords read_chunks(const File& file, const std::string& name) {
  return read_chunks(file, name, 0, file.size());
}

}  // namespace uctrace::log
