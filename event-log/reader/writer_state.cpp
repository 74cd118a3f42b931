#include "event-log/reader/writer_state.hpp"

#include <chrono>
#include <string>

#include "event-log/reader/fixed_text.hpp"

namespace uctrace::log {
namespace {

std::uint64_t realtime_now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

Sight sight_of_writer(const ProcessPage& page) {
  if (page.magic != kMagic) return Sight::hidden;
  return look_for({.host = std::string(text_in(page.host)),
                   .boot_id = std::string(text_in(page.boot_id)),
                   .pid_namespace = page.pid_namespace,
                   .time_namespace = page.time_namespace,
                   .pid = page.pid,
                   .start_time = page.start_time});
}

WriterState look_for_writer(const ProcessPage& page) {
  const Signs signs{.heartbeat = page.heartbeat_realtime_ns, .now = realtime_now_ns()};
  switch (life_of(false, sight_of_writer(page), signs)) {
    case Life::running:
      return WriterState::running;
    case Life::dead:
      return WriterState::dead;
    default:
      return WriterState::unseen;
  }
}

bool same_writer(const ProcessPage& a, const ProcessPage& b) {
  return text_in(a.host) == text_in(b.host) && text_in(a.boot_id) == text_in(b.boot_id) &&
         a.pid_namespace == b.pid_namespace && a.pid == b.pid && a.start_time == b.start_time &&
         a.image == b.image;
}

}  // namespace uctrace::log
