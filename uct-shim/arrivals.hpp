// A message that a transport hands up, recorded, with the context of what its handler posts in
// reply.
//
//   Arrived arrived{...what is known of it...};
//   const Delivery delivery(arrived);
//   return handler(...);
//
// Cost: one clock read, two for a longer message; the record's stores.
#pragma once

#include <uct/api/uct.h>

#include "event-log/recorder.hpp"
#include "uct-shim/context.hpp"

namespace uctrace::uct {

struct Arrived {
  // The handling of a message up to this size is mostly clock readings if they are taken.
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
  // `arrived` lives as long. Its header was copied: the handler may give the buffer away.
  explicit Delivery(const Arrived& arrived);
  explicit Delivery(Arrived&&) = delete;
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

 private:
  void record();

  const Arrived& arrived_;
  log::Lane* lane_;
  ThreadState outer_;
  std::uint64_t tick_ = 0;
  log::Id id_ = 0;
};

}  // namespace uctrace::uct
