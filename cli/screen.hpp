// A terminal that a picture is shown on again and again, and whose keys are read. It is put back as
// it was when this ends, and while the process is stopped.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace uctrace::cli {

class Screen {
 public:
  // Of standard output, and keys of standard input where that is the same terminal.
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  bool takes_keys() const { return takes_keys_; }
  void draw(std::string_view text) const;

  enum class Event : std::uint8_t { time, key, redraw, stop };
  struct Happened {
    Event event = Event::time;
    char key = 0;
  };
  using Clock = std::chrono::steady_clock;
  // What happens until then. `redraw`: the size may be another one.
  Happened wait_until(Clock::time_point end);

 private:
  void enter();
  void leave() const;
  Happened read_signal();
  Happened read_key();

  int signals_ = -1;
  bool takes_keys_ = false;
  std::optional<termios> before_;
};

}  // namespace uctrace::cli
