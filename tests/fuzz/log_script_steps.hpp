// The steps of a script, read by log_script.cpp and written by log_script_mutator.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/fuzz/log_script.hpp"

namespace uctrace::fuzz {

// The first byte of a step, modulo their number.
enum class Step : std::uint8_t {
  next_log,     // -
  chunk,        // u8: lane and stream
  record,       // u8 words, then the words
  page_patch,   // u16 offset, u8 size, bytes
  chunk_patch,  // u16 offset in the newest chunk, u8 size, bytes
  cut,          // u24: bytes taken from the end
  pack,         // the newest chunk becomes a block
  kCount,
};

// Takes values from the beginning of a script; zeros after its end.
class Taker {
 public:
  explicit Taker(Script script) : script_(script) {}
  bool at_end() const { return script_.empty(); }
  std::size_t left() const { return script_.size(); }
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    take(&value, bytes);
    return value;
  }
  void take(void* to, std::size_t bytes) {
    const std::size_t count = std::min(bytes, script_.size());
    if (count > 0) std::memcpy(to, script_.data(), count);
    script_ = script_.subspan(count);
  }

 private:
  Script script_;
};

}  // namespace uctrace::fuzz
