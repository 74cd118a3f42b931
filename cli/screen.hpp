// A terminal that shows a picture repeatedly and whose keys are read. Its state is restored at the
// end, and while the process is stopped.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace uctrace::cli {

class Screen {
 public:
  // Uses standard output, and keys of standard input if that is the same terminal.
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
  // The next event until then. `redraw`: the size may have changed.
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
