#include "tests/tracegen/steps.hpp"

#include <algorithm>
#include <bit>

#include "tests/tracegen/messages.hpp"
#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::uint64_t kOfSteps = 0x57e9;

// Spread evenly over the powers of two.
std::uint64_t log_uniform(std::uint64_t hash, std::uint64_t least, std::uint64_t most) {
  const int low = std::bit_width(least), high = std::bit_width(most);
  const auto width =
      low + static_cast<int>(below(hash, static_cast<std::uint64_t>(high - low + 1)));
  const std::uint64_t top = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
  return std::clamp(top + (mix(hash) & (top > 0 ? top - 1 : 0)), least, most);
}

}  // namespace

Steps::Steps(const Shape& shape, std::int64_t begin_ns) : shape_(shape), end_ns_(begin_ns) {
  for (const std::uint32_t weight : shape.options().weights) weights_ += weight;
  step_.number = ~std::uint64_t{0};
}

StepKind Steps::choose_kind(std::uint64_t hash) const {
  std::uint64_t at = below(hash, weights_);
  for (std::size_t i = 0; i < kStepKinds; ++i) {
    const std::uint64_t weight = shape_.options().weights[i];
    if (at < weight) return static_cast<StepKind>(i);
    at -= weight;
  }
  return StepKind::nonblocking;
}

const Step& Steps::next() {
  const std::uint64_t number = step_.number + 1;
  const std::uint64_t h = hash_of(shape_.seed(), kOfSteps, number);
  step_ = {};
  step_.number = number;
  step_.choice = h;
  step_.kind = choose_kind(h);
  // Two threads are needed to share a tag.
  if (step_.kind == StepKind::shared_tag && shape_.options().lanes < 2) {
    step_.kind = StepKind::nonblocking;
  }
  // Open MPI 4 has none of these.
  if (step_.kind == StepKind::partitioned && shape_.options().mpi != Mpi::mpich) {
    step_.kind = StepKind::persistent;
  }
  step_.begin_ns = end_ns_;
  step_.base_bytes =
      log_uniform(mix(h + 1), shape_.options().min_bytes, shape_.options().max_bytes);
  const std::vector<Comm>& comms = shape_.options().comms;
  step_.comm = comms[below(mix(h + 2), comms.size())];
  choose_pattern();
  // Of an intercommunicator there are messages only.
  const bool one_group = step_.is_collective() || step_.kind == StepKind::cancel;
  if (is_inter(step_.comm) && (one_group || !shape_.has_comm(step_.comm, 0))) {
    step_.comm = Comm::world;
  }
  step_.slots = slots_of(step_.pattern, shape_.most_size_of(step_.comm));
  if (step_.at_once()) {
    step_.per_window = step_.slots * static_cast<std::uint32_t>(shape_.options().burst);
  } else {
    step_.windows = std::max(step_.slots, std::uint32_t{1});
  }
  if (step_.kind == StepKind::file) step_.windows = Step::kFileCalls * step_.windows_of_call();
  if (step_.kind == StepKind::rma) step_.windows = 2;  // the second is the fence's
  lay_out_time();
  end_ns_ = step_.end_ns();
  return step_;
}

void Steps::choose_pattern() {
  const std::uint64_t h = mix(step_.choice + 3);
  static constexpr Pattern kAtOnce[] = {Pattern::stencil, Pattern::stencil, Pattern::random,
                                        Pattern::all_to_all};
  switch (step_.kind) {
    case StepKind::partitioned:
    case StepKind::persistent:  // their requests were made at the start
      step_.pattern = Pattern::stencil;
      step_.comm = Comm::world;
      step_.base_bytes = persistent_bytes(shape_);
      break;
    case StepKind::sendrecv:
      step_.pattern = below(h, 2) == 0 ? Pattern::ring : Pattern::random;
      break;
    case StepKind::blocking:
    case StepKind::probe:
    case StepKind::stream:
      step_.pattern = Pattern::pairs;
      break;
    case StepKind::collective:
    case StepKind::icollective: {
      constexpr auto kKinds = static_cast<std::uint64_t>(Collective::kCount);
      step_.collective = static_cast<Collective>(below(h, kKinds));
      step_.pattern = step_.collective == Collective::bcast      ? Pattern::binomial
                      : step_.collective == Collective::alltoall ? Pattern::all_to_all
                                                                 : Pattern::doubling;
      if (step_.collective == Collective::barrier) step_.base_bytes = 0;
      break;
    }
    case StepKind::file:
      step_.pattern = Pattern::doubling;
      break;
    case StepKind::connected:
      step_.comm = Comm::world;
      step_.pattern = kAtOnce[below(h, 4)];
      break;
    case StepKind::am_shared:
      step_.comm = Comm::world;
      step_.pattern = Pattern::all_to_all;
      break;
    case StepKind::rma:
      step_.comm = Comm::world;  // that of the window
      step_.pattern = kAtOnce[below(h, 4)];
      break;
    default:
      step_.pattern = kAtOnce[below(h, 4)];
  }
  if (step_.kind == StepKind::stream) step_.comm = Comm::world;
}

void Steps::lay_out_time() {
  const std::uint64_t most = most_fragments(shape_, step_.base_bytes);
  step_.width = 2 * (400 + static_cast<std::int64_t>(most) * 200);
  const std::int64_t part = step_.width * step_.per_window + kGapNs;
  const bool all_first = step_.kind == StepKind::icollective;
  step_.send_ns = kPostNs * (all_first ? step_.windows : step_.per_window) + kGapNs;
  std::int64_t at = step_.send_ns + part;
  for (std::int64_t& reply : step_.reply_ns) {
    reply = at;
    at += part;
  }
  // A message that cannot be a rendezvous ends with the answer to an acknowledged send.
  if (!may_rendezvous(shape_, step_.base_bytes)) at = step_.reply_ns[2];
  step_.window_ns = at + kGapNs;
}

}  // namespace uctrace::tracegen
