// A file that is written from its beginning to its end.
#pragma once

#include <string>

namespace uctrace::exports {

// Collects what is appended to text(), and writes it a large part at a time.
class Output {
 public:
  // `fd` stays open, and the caller's.
  explicit Output(int fd) : fd_(fd) {}

  std::string& text() { return text_; }
  // Once something whole was appended. Throws std::system_error where it cannot be written.
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
