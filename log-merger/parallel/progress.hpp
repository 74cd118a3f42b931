// How far a merge is, for somebody who waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace uctrace {

class Progress {
 public:
  struct Now {
    const char* stage;
    double share;          // of the whole merge, 0 to 1
    std::uint64_t events;  // that are merged; 0 = not known yet
  };
  // Called whenever there is something new, by one thread at a time.
  using Show = std::function<void(const Now&)>;
  explicit Progress(Show show) : show_(std::move(show)) {}

  // A stage begins, which takes the merge to `until`.
  void begin(const char* stage, double until);
  void set_events(std::uint64_t events);
  // By any thread: so many pieces of the work that the stage is at are done.
  void count(std::size_t done, std::size_t pieces);

 private:
  std::mutex mutex_;
  const Show show_;
  Now now_{"", 0, 0};
  double begun_at_ = 0, until_ = 0;
};

}  // namespace uctrace
