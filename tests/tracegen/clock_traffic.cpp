#include "tests/tracegen/clock_traffic.hpp"

#include "mpi-attribution/clock_leaders.hpp"

namespace uctrace::tracegen {
namespace {

using wire::AmId;
using Role = mpi::ClockPartner::Role;

constexpr Comm kToolComm{12};  // of its own, which the program does not know
constexpr std::uint64_t kBytes = 16, kOnWire = kBytes + 8;
constexpr int kQuestions = 3;  // the last one says that there are no more
constexpr std::int64_t kApartNs = 10'000;
enum Tag : std::int32_t { kQuestion = 1, kAnswer = 2 };

class Traffic {
 public:
  Traffic(ProcessLog& log, log::ClockSample::End end)
      : log_(log), lane_(log.lane(0)), shape_(log.shape()), end_(end) {}

  void exchange(std::int32_t peer, bool asks, std::int64_t at_ns) {
    const std::int64_t one_way = shape_.options().round_trip_ns / 2;
    for (int i = 0; i < kQuestions; ++i) {
      const std::int64_t at = at_ns + i * kApartNs;
      const bool last = i + 1 == kQuestions;
      if (asks) {
        const log::Id receive = last ? 0 : post(peer, kAnswer, at);
        send(peer, kQuestion, at + 200);
        if (!last) take(peer, kAnswer, receive, at + 500 + 2 * one_way);
      } else {
        take(peer, kQuestion, post(peer, kQuestion, at), at + 250 + one_way);
        if (!last) send(peer, kAnswer, at + 400 + one_way);
      }
    }
  }

 private:
  std::uint64_t tag_of(std::int32_t source, std::int32_t tag) const {
    return shape_.ucp_tag(kToolComm, source, tag + 4 * static_cast<std::int32_t>(end_), false);
  }

  void send(std::int32_t to, std::int32_t tag, std::int64_t at_ns) {
    const std::uint64_t endpoint = log_.ucp_endpoint(to, at_ns);
    const std::uint16_t card = shape_.card_of(log_.rank(), to);
    const log::Id id = lane_.next_ucp_id();
    const std::uint64_t own = tag_of(log_.rank(), tag);
    lane_.uct({.interface = card,
               .endpoint = log_.uct_endpoint(card, to, at_ns),
               .op = log::UctOp::am_short,
               .bytes = kOnWire,
               .at_ns = at_ns + 20,
               .origin = For::operation(id),
               .am_id = AmId::eager_only},
              {own});
    UcpCall call{.function = log::UcpFunction::tag_send_nbx,
                 .handle = endpoint,
                 .bytes = kBytes,
                 .first = own,
                 .third = lane_.tick(at_ns),
                 .begin_ns = at_ns,
                 .end_ns = at_ns + 90};
    call.memory = log_.memory_of(false);
    lane_.ucp(id, call);
    log_.truth().add_tool_send();
  }

  log::Id post(std::int32_t from, std::int32_t tag, std::int64_t at_ns) {
    const log::Id id = lane_.next_ucp_id();
    UcpCall call{.function = log::UcpFunction::tag_recv_nbx,
                 .handle = handle::kWorker,
                 .bytes = kBytes,
                 .first = tag_of(from, tag),
                 .second = shape_.tag_mask(false),
                 .third = lane_.tick(at_ns),
                 .begin_ns = at_ns,
                 .end_ns = at_ns + 50,
                 .in_progress = true};
    call.memory = log_.memory_of(false);
    lane_.ucp(id, call);
    return id;
  }

  void take(std::int32_t from, std::int32_t tag, log::Id receive, std::int64_t at_ns) {
    log_.ucp_endpoint(from, at_ns);
    const std::uint64_t sent = tag_of(from, tag);
    lane_.arrival(shape_.card_of(log_.rank(), from), AmId::eager_only, kOnWire, at_ns, 0, {sent});
    lane_.received(receive, at_ns, 0, sent, kBytes, true);
  }

  ProcessLog& log_;
  Lane& lane_;
  const Shape& shape_;
  log::ClockSample::End end_;
};

// A process killed before the end does not answer.
bool is_gone(const Shape& shape, std::int32_t rank) {
  return shape.options().fault_of(rank, Fault::Kind::unclosed) != nullptr;
}

}  // namespace

std::int64_t measuring_ns(const Shape& shape) {
  const auto hosts = static_cast<std::size_t>(shape.options().hosts);
  return static_cast<std::int64_t>(mpi::measuring_steps(hosts)) * when::kClockTurn;
}

std::int64_t measure_clocks(ProcessLog& log, log::ClockSample::End end, std::int64_t begin_ns) {
  const Shape& shape = log.shape();
  const auto hosts = static_cast<std::size_t>(shape.options().hosts);
  const std::int64_t all_done = begin_ns + measuring_ns(shape);
  if (hosts < 2 || shape.leader_of(log.host()) != log.rank()) return all_done;
  const std::uint64_t before = log.lane(0).sends_so_far();
  for (std::size_t step = 0; step < mpi::measuring_steps(hosts); ++step) {
    const mpi::ClockPartner partner =
        mpi::partner_in(step, static_cast<std::size_t>(log.host()), hosts);
    if (partner.role == Role::none) continue;
    const auto host = static_cast<std::int32_t>(partner.index);
    if (end == log::ClockSample::at_end && is_gone(shape, shape.leader_of(host))) continue;
    const std::int64_t at = begin_ns + static_cast<std::int64_t>(step) * when::kClockTurn;
    const bool asks = partner.role == Role::asks;
    Traffic(log, end).exchange(shape.leader_of(host), asks, at);
    if (asks) log.define_clock_sample(host, end, at + kApartNs);
  }
  log.define_tool_traffic(begin_ns - 100, all_done, log.lane(0).sends_so_far() - before);
  return all_done;
}

}  // namespace uctrace::tracegen
