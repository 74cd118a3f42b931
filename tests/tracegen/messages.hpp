// The two-sided messages of a step: their sizes, ranks, protocols and times. Both processes of a
// message, and the truth, compute the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/tracegen/steps.hpp"

namespace uctrace::tracegen {

// What UCP does with a message.
enum class Way : std::uint8_t {
  eager_short,
  eager_bcopy,
  eager_zcopy,
  multi_bcopy,  // in fragments
  multi_zcopy,
  sync_bcopy,   // which the receiver acknowledges
  rndv_get,     // the receiver fetches
  rndv_put,     // the receiver asks, the sender writes
  rndv_am,      // the receiver asks, the sender sends fragments
  rkey_ptr,     // the receiver's CPU copies
  rndv_offload  // the interfaces carry it out
};

struct Message {
  std::int32_t src = 0, dst = 0;  // world ranks
  std::uint16_t lane = 0;
  std::uint32_t window = 0, slot = 0;  // slot: place among those of its window
  std::uint64_t bytes = 0;
  std::int32_t mpi_tag = 0;
  std::uint64_t tag = 0;  // of UCP
  Way way = Way::eager_short;
  std::uint16_t control = kNoInterface, data = kNoInterface;
  bool offload = false;  // the receiver's interface matches tags
  bool met = false;      // by a receive that was posted to the interface
  bool queued = false;   // waits in a pending queue first
  bool src_gpu = false, dst_gpu = false;
  bool collective = false;
  // The source of the ids on the wire: not reused while the message is in flight.
  std::uint64_t serial = 0;

  bool is_rendezvous() const { return way >= Way::rndv_get; }
  // Fragments of zcopy end later than they are posted, and so does the send.
  bool is_zcopy() const { return way == Way::eager_zcopy || way == Way::multi_zcopy; }
  bool ends_at_return() const { return way <= Way::multi_bcopy && !is_zcopy() && !queued; }
};

// A part of a message in one operation.
struct Fragment {
  std::uint64_t offset = 0, bytes = 0;
};

// Of an eager message, or of one whose data goes as active messages.
inline std::uint64_t fragment_bytes(Way way) { return way == Way::rndv_am ? 32752 : 8168; }
inline std::uint64_t fragments_of(const Message& m) {
  const bool parts =
      m.way == Way::multi_bcopy || m.way == Way::multi_zcopy || m.way == Way::rndv_am;
  return parts ? (m.bytes + fragment_bytes(m.way) - 1) / fragment_bytes(m.way) : 1;
}
inline Fragment fragment_of(const Message& m, std::uint64_t i) {
  const std::uint64_t most = fragments_of(m) == 1 ? m.bytes : fragment_bytes(m.way);
  return {i * most, std::min(most, m.bytes - i * most)};
}

// The message that a rank sends to `other`, or receives from it.
Message message_of(const Shape& shape, const Step& step, std::uint32_t window,
                   std::uint32_t pattern_slot, std::uint32_t repeat, std::int32_t src,
                   std::int32_t dst, std::uint16_t lane);

// World ranks, -1: none.
Neighbours partners(const Shape& shape, const Step& step, std::uint32_t pattern_slot,
                    std::int32_t rank);

std::uint64_t persistent_bytes(const Shape& shape);
// At most, of messages around `base_bytes`.
std::uint64_t most_fragments(const Shape& shape, std::uint64_t base_bytes);
bool may_rendezvous(const Shape& shape, std::uint64_t base_bytes);

// Whether a receive of the step is posted to an interface that matches tags.
bool posted_to_interface(const Step& step);
// Whether receives of a step are posted after their messages have come.
bool receives_late(const Step& step);
// Whether a receive of a probe step is one of a matched probe.
inline bool probes_matched(const Step& step) { return (step.choice & 64) != 0; }

// --- when: true time

inline std::int64_t jitter_of(const Step& step, std::int32_t rank) {
  return static_cast<std::int64_t>(
      (step.choice >> 8 ^ static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15) % kJitterNs);
}

// The times of a message at one of its processes.
class Times {
 public:
  Times(const Step& step, const Message& m, std::int32_t rank)
      : begin_(step.begin_ns + step.window_ns * m.window + jitter_of(step, rank) +
               kLaneNs * m.lane),
        step_(step),
        window_(m.window),
        slot_(m.slot) {}

  // The receives of a non-blocking collective operation are all posted at its start.
  std::int64_t post_receive() const {
    return step_.kind == StepKind::icollective ? begin_ - (step_.window_ns - kPostNs) * window_
                                               : begin_ + kPostNs * slot_;
  }
  std::int64_t send() const { return begin_ + step_.send_ns + step_.width * slot_; }
  // The beginning of its share of a part: the receiver acts in the first half of it, the sender in
  // the second.
  std::int64_t receiver(int reply) const {
    return begin_ + step_.reply_ns[reply] + step_.width * slot_;
  }
  std::int64_t sender(int reply) const { return receiver(reply) + step_.width / 2; }

 private:
  std::int64_t begin_;
  const Step& step_;
  std::int64_t window_, slot_;
};

}  // namespace uctrace::tracegen
