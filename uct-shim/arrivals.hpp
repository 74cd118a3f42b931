// Records a message that a transport delivers, and sets the context of operations that its handler
// posts in reply.
//
//   Arrived arrived{...what is known of it...};
//   const Delivery delivery(arrived);
//   return handler(...);
//
// Cost: one clock read, two for a longer message; the record's stores.
#pragma once

#include <uct/api/uct.h>

#include "event-log/format/ucp_wire.hpp"
#include "event-log/recorder/recorder.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::uct {

struct Arrived {
  // Up to this size, clock readings would take most of the handling time.
  static constexpr std::uint64_t kShortBytes = 256;
  bool is_short() const { return bytes <= kShortBytes; }

  std::uint64_t bytes = 0;
  std::uint16_t interface = 0;
  log::ArrivalKind kind = log::ArrivalKind::active_message;
  std::uint8_t am_id = 0;
  std::uint8_t words = 0;
  bool connects = false;  // an endpoint of UCP
  std::uint64_t header[log::kMaxHeaderWords];
};

class Delivery {
 public:
  // `arrived` must live as long. Its header was copied: the handler may release the buffer.
  UCTRACE_HOT explicit Delivery(const Arrived& arrived);
  explicit Delivery(Arrived&&) = delete;
  UCTRACE_HOT ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

 private:
  UCTRACE_HOT void record();

  const Arrived& arrived_;
  log::Lane* lane_;
  ThreadState outer_;
  std::uint64_t tick_ = 0;
  log::Id id_ = 0;
};

inline Delivery::Delivery(const Arrived& arrived)
    : arrived_(arrived), lane_(log::lane()), outer_(thread_state) {
  if (lane_ == nullptr) [[unlikely]] {
    log::count_without_lane(log::DropKind::uct);
    return;
  }
  tick_ = log::now();
  id_ = log::new_id(*lane_, log::IdKind::arrival);
  lane_->begin_shared_tick(
      arrived.is_short() ? log::SharedTick::Of::arrival : log::SharedTick::Of::nothing, tick_);
  // When an endpoint gets connected, UCP sends everything queued for it, whoever asked. So the
  // message that connects it is not the context of these.
  thread_state = {};
  if (!arrived.connects) {
    thread_state.context = {id_, log::Origin::arrival, log::Route::call};
  }
}

inline Delivery::~Delivery() {
  thread_state = outer_;
  // Otherwise the program forked in its handler, and this is the child.
  if (lane_ != nullptr && log::lane() == lane_) [[likely]] {
    lane_->end_shared_tick();
    record();
  }
}

inline void Delivery::record() {
  ++lane_->counters().uct_arrivals;
  auto* r =
      lane_->reserve<log::UctArrival>(log::DropKind::uct, arrived_.words * sizeof(std::uint64_t));
  if (r == nullptr) [[unlikely]] {
    return;
  }
  const bool one_tick = arrived_.is_short();
  const std::uint64_t duration = one_tick ? 0 : log::now() - tick_;
  r->start_tick = tick_;
  r->id = id_;
  r->bytes = arrived_.bytes < UINT32_MAX ? static_cast<std::uint32_t>(arrived_.bytes) : UINT32_MAX;
  r->am_id = arrived_.am_id;
  r->header_words = arrived_.words;
  r->kind = arrived_.kind;
  r->marks = one_tick ? log::UctArrival::kOneTick : 0;
  wire::copy_words(reinterpret_cast<std::uint64_t*>(r + 1), arrived_.header, arrived_.words);
  log::publish(r, log::RecordType::uct_arrival, sizeof *r / 8 + arrived_.words, arrived_.interface,
               duration < UINT32_MAX ? static_cast<std::uint32_t>(duration) : UINT32_MAX);
}

}  // namespace uctrace::uct
