// A file that is written sequentially.
#pragma once

#include <string>

namespace uctrace::exports {

// Collects what is appended to text(), and writes it a large part at a time.
class Output {
 public:
  // `fd` stays open, and the caller's.
  explicit Output(int fd) : fd_(fd) {}

  std::string& text() { return text_; }
  // Call it after a complete item was appended. Throws std::system_error if it cannot be written.
  void appended() {
    if (text_.size() >= kAtOnce) flush();
  }
  void flush();

 private:
  static constexpr std::size_t kAtOnce = 1 << 20;
  int fd_;
  std::string text_;
};

}  // namespace uctrace::exports
