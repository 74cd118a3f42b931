// The bytes of a log's files in memory. Private to event-log/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace uctrace::log {

// A file, as far as it was read.
struct FileWords {
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t bytes = 0;
  bool moved = false;  // it was written to while it was read

  // The whole words from `offset` on, which is a multiple of their size.
  std::span<const std::uint64_t> from(std::size_t offset) const {
    return std::span<const std::uint64_t>(words.get(), bytes / sizeof(std::uint64_t))
        .subspan(offset / sizeof(std::uint64_t));
  }
};

// Throws where there is not as much memory; `name` is the log's.
std::unique_ptr<std::uint64_t[]> allocate(std::size_t bytes, const std::string& name);

}  // namespace uctrace::log
