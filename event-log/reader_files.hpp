// The bytes of a log's files in memory. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "event-log/file_layout.hpp"

namespace uctrace::log {

// A file, as far as it was read.
struct FileWords {
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t bytes = 0;
  bool changed = false;  // a chunk changed hands, or was made, while it was read

  // The whole words from `offset` on, which is a multiple of their size.
  std::span<const std::uint64_t> from(std::size_t offset) const {
    return std::span<const std::uint64_t>(words.get(), bytes / sizeof(std::uint64_t))
        .subspan(offset / sizeof(std::uint64_t));
  }
};

// Throws where there is not as much memory; `name` is the log's.
std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name);

// The `bytes` of chunks that a file has from `begin` on, without those that changed hands while they were read: they were packed
// before, so that their records are found in the log, which is read after. `changed` says that of the
// others some may lack the chunk before them: it was begun in a place that had been read by then,
// or behind the end that the file had.
template <typename File>
FileWords read_chunks(const File& file, const std::string& name, std::size_t begin,
                      std::size_t bytes) {
  const std::size_t size = file.size();
  FileWords live{.words = allocate(bytes, name)};
  live.bytes = file.read(live.words.get(), bytes, begin);
  auto* chunks = reinterpret_cast<std::byte*>(live.words.get());
  for (std::size_t at = 0; at + sizeof(ChunkHeader) <= live.bytes; at += kMinChunkBytes) {
    ChunkHeader now{};
    file.read(&now, sizeof now, begin + at);
    if (std::memcmp(chunks + at, &now, sizeof now) != 0) {
      live.changed = true;
      now.sequence = 0;
      std::memcpy(chunks + at, &now, sizeof now);
    }
  }
  live.changed = live.changed || file.size() != size;
  return live;
}

}  // namespace uctrace::log
