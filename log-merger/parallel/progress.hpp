// The progress of a merge, for a waiting user.
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
    std::uint64_t events;  // to merge; 0 = not known yet
  };
  // Called whenever there is something new, by one thread at a time.
  using Show = std::function<void(const Now&)>;
  explicit Progress(Show show) : show_(std::move(show)) {}

  // Begins a stage that advances the merge to `until`.
  void begin(const char* stage, double until);
  void set_events(std::uint64_t events);
  // On any thread: so many pieces of the stage's work are done.
  void count(std::size_t done, std::size_t pieces);

 private:
  std::mutex mutex_;
  const Show show_;
  Now now_{"", 0, 0};
  double begun_at_ = 0, until_ = 0;
};

}  // namespace uctrace
