#include "tests/tracegen/messages.hpp"

#include <algorithm>

#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::int32_t kSharedTag = 999;
constexpr std::uint64_t kOfPersistent = 0x9e51;
constexpr std::uint64_t kMostEager = 8168;   // in one fragment
constexpr std::uint64_t kMostPosix = 16336;  // eager, in two
constexpr std::uint64_t kMostCards = 32672;  // eager, in four
constexpr std::uint64_t kMostTcp = 65344;    // eager, in eight
// Sizes of a step lie around its base.
std::uint64_t largest_of(std::uint64_t base) { return base + base / 4; }

Way way_over_memory(const Shape& shape, const Message& m, std::uint64_t h) {
  const bool self = m.src == m.dst;
  if (m.bytes <= (self ? 1024u : 92u)) return Way::eager_short;
  if (m.bytes <= kMostEager) return Way::eager_bcopy;
  if (!self && m.bytes <= kMostPosix) return Way::multi_bcopy;
  // With protocols v2 the last operation's name says that it was acknowledged, and no more.
  const bool copies = !self && shape.options().protocols == 1 && h % 8 == 0;
  return copies ? Way::rkey_ptr : Way::rndv_get;
}

Way way_over_cards(const Shape& shape, const Message& m, std::uint64_t h) {
  if (shape.options().network == Network::tcp) {
    if (m.bytes <= 2040) return Way::eager_short;
    if (m.bytes <= kMostEager) return Way::eager_bcopy;
    return m.bytes <= kMostTcp ? Way::multi_bcopy : Way::rndv_am;
  }
  if (m.bytes <= 120) return Way::eager_short;
  if (m.bytes <= 2048) return Way::eager_bcopy;
  if (m.bytes <= kMostEager) return Way::eager_zcopy;
  if (m.bytes <= kMostCards) return Way::multi_zcopy;
  return h % 4 == 0 ? Way::rndv_put : Way::rndv_get;
}

// Longer messages than one buffer holds are fetched: by the interface, or, where it has no receive
// for them, by the receiver's UCP.
Way way_by_interface(const Message& m) {
  if (m.way == Way::sync_bcopy || m.bytes <= kMostEager) return m.way;
  return m.met ? Way::rndv_offload : Way::rndv_get;
}

void choose_way(const Shape& shape, const Step& step, Message& m, std::uint64_t h) {
  const bool far = shape.host_of(m.src) != shape.host_of(m.dst);
  m.way = far ? way_over_cards(shape, m, h) : way_over_memory(shape, m, h);
  m.control = shape.between(m.src, m.dst);
  m.data = m.is_rendezvous() && !far ? std::uint16_t{kCma} : m.control;
  const bool acknowledged = step.kind == StepKind::blocking && (h >> 8) % 4 == 0;
  if (acknowledged && m.bytes <= kMostEager) m.way = Way::sync_bcopy;
  m.offload = far && shape.options().tag_offload;
  m.met = m.offload && posted_to_interface(step);
  if (m.offload) m.way = way_by_interface(m);
  m.queued =
      far && m.way <= Way::eager_bcopy && step.kind == StepKind::nonblocking && (h >> 12) % 16 == 0;
}

// Which ends are in GPU memory: only where UCX could access it with the message's protocol.
void choose_memory(const Shape& shape, Message& m, std::uint64_t h) {
  m.src_gpu = shape.has_gpu(m.src) && (h >> 20) % 2 == 0;
  m.dst_gpu = shape.has_gpu(m.dst) && (h >> 21) % 2 == 0;
  const bool far = shape.host_of(m.src) != shape.host_of(m.dst);
  const bool direct = far && (m.way == Way::rndv_get || m.way == Way::rndv_put);
  const bool between_gpus =
      !far && m.src != m.dst && m.way == Way::rndv_get && m.src_gpu && m.dst_gpu;
  if (between_gpus) {
    m.data = kCudaIpc;
  } else if (m.offload || (!direct && (m.way != Way::eager_bcopy || m.queued))) {
    m.src_gpu = m.dst_gpu = false;
  }
}

std::uint64_t bytes_of(const Shape& shape, const Step& step, std::uint64_t h) {
  if (step.is_collective() || step.is_persistent()) return step.base_bytes;
  const std::uint64_t base = step.base_bytes;
  return std::clamp(base - base / 4 + mix(h) % (base / 2 + 1), shape.options().min_bytes,
                    shape.options().max_bytes);
}

// Libraries give what was begun and is not over a tag of its own; kinds of steps have theirs, too.
std::int32_t tag_of(const Step& step, std::uint16_t lane) {
  if (step.kind == StepKind::shared_tag) return kSharedTag;
  if (step.kind == StepKind::collective) return static_cast<std::int32_t>(step.collective);
  if (step.kind == StepKind::file) return 12;
  if (step.kind == StepKind::icollective) {
    return static_cast<std::int32_t>(256 + step.number % 1'000'000);
  }
  return 20 + 40 * lane + static_cast<std::int32_t>(step.kind);
}

}  // namespace

Message message_of(const Shape& shape, const Step& step, std::uint32_t window,
                   std::uint32_t pattern_slot, std::uint32_t repeat, std::int32_t src,
                   std::int32_t dst, std::uint16_t lane) {
  // Persistent requests are for the same memory each time.
  const std::uint64_t of_step = step.is_persistent() ? kOfPersistent : step.number;
  const std::uint64_t which =
      std::uint64_t{pattern_slot} << 32 | std::uint64_t{repeat} << 16 | lane;
  const std::uint64_t h =
      hash_of(shape.seed() ^ of_step << 32, which,
              static_cast<std::uint64_t>(src) << 32 | static_cast<std::uint32_t>(dst));
  Message m;
  m.src = src;
  m.dst = dst;
  m.lane = lane;
  m.window = window;
  m.collective = step.is_collective();
  m.slot = step.at_once()
               ? pattern_slot * static_cast<std::uint32_t>(shape.options().burst) + repeat
               : 0;
  m.bytes = bytes_of(shape, step, h);
  m.mpi_tag = tag_of(step, lane);
  const Comm context = step.kind == StepKind::file ? Shape::comm_of_file(step.comm) : step.comm;
  m.tag = shape.ucp_tag(context, shape.local_rank(step.comm, src), m.mpi_tag, m.collective,
                        shape.side_of(step.comm, src));
  choose_way(shape, step, m, h);
  if (!m.collective && !step.is_persistent()) choose_memory(shape, m, h);
  m.serial = ((step.number * 64 + pattern_slot) * 1024 + repeat) * 16 + lane;
  return m;
}

Neighbours partners(const Shape& shape, const Step& step, std::uint32_t pattern_slot,
                    std::int32_t rank) {
  const std::int32_t local = shape.local_rank(step.comm, rank);
  const std::int32_t size = shape.size_of(step.comm, rank);
  if (local >= size || pattern_slot >= slots_of(step.pattern, size)) return {};
  Neighbours found = neighbours(step.pattern, pattern_slot, local, size, step.choice);
  if (step.is_collective() && found.to == local) return {};  // copied without a message
  for (std::int32_t* other : {&found.to, &found.from}) {
    if (*other >= 0) *other = shape.member(step.comm, rank, *other);
  }
  return found;
}

std::uint64_t persistent_bytes(const Shape& shape) {
  return std::clamp<std::uint64_t>(1000, shape.options().min_bytes, shape.options().max_bytes);
}

std::uint64_t most_fragments(const Shape& shape, std::uint64_t base_bytes) {
  const std::uint64_t bytes = largest_of(base_bytes);
  const auto parts = [](std::uint64_t whole, std::uint64_t part) {
    return (whole + part - 1) / part;
  };
  if (shape.options().network == Network::tcp) {
    const std::uint64_t eager = parts(std::min(bytes, kMostTcp), fragment_bytes(Way::multi_bcopy));
    return std::max<std::uint64_t>({1, eager, parts(bytes, fragment_bytes(Way::rndv_am))});
  }
  return std::max<std::uint64_t>(
      1, parts(std::min(bytes, kMostCards), fragment_bytes(Way::multi_zcopy)));
}

bool may_rendezvous(const Shape&, std::uint64_t base_bytes) {
  return largest_of(base_bytes) > kMostEager;
}

// One from any source may come by another interface, too: UCP keeps it.
bool posted_to_interface(const Step& step) {
  return step.kind != StepKind::wildcard && !receives_late(step);
}

bool receives_late(const Step& step) {
  return step.kind == StepKind::probe ||
         (step.kind == StepKind::nonblocking && (step.choice >> 40) % 4 == 0);
}

}  // namespace uctrace::tracegen
