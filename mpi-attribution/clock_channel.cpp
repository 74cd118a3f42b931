#include "mpi-attribution/clock_channel.hpp"

#include <sched.h>

#include "event-log/recorder/ticks.hpp"

namespace uctrace::mpi {

namespace {

// For steps that need no other process: cancelling a receive, and a send that fits into a packet.
constexpr std::uint64_t kLocalNs = 1'000'000'000;

constexpr int kBytes = sizeof(ClockMessage);

// Larger than the MPI_Status of any library.
struct alignas(16) Status {
  unsigned char bytes[256];
};

}  // namespace

Outcome outcome_of(Word& request, std::uint64_t deadline_ns) {
  // If ranks share a core, the other one must run before it can answer.
  constexpr int kTestsBeforeYield = 200;
  for (int tests = 1;; ++tests) {
    int done = 0;
    Status status;
    if (library.messaging.test(&request, &done, &status) != 0) return Outcome::failed;
    if (done != 0) return Outcome::over;
    if (tests % kTestsBeforeYield == 0) sched_yield();
    if (log::monotonic_raw_ns() >= deadline_ns) return Outcome::late;
  }
}

void ClockChannel::expect(int tag) {
  receive_ = 0;
  expecting_ = usable_ && library.messaging.irecv(&incoming_, kBytes, library.byte, peer_, tag,
                                                  communicator_, &receive_) == 0;
  usable_ = expecting_;
}

const ClockMessage* ClockChannel::wait(std::uint64_t deadline_ns) {
  if (!usable_) return nullptr;
  const Outcome outcome = outcome_of(receive_, deadline_ns);
  usable_ = outcome != Outcome::failed;
  expecting_ = outcome == Outcome::late;
  return outcome == Outcome::over ? &incoming_ : nullptr;
}

void ClockChannel::send(int tag, const ClockMessage& message) {
  if (!usable_) return;
  Word request = 0;
  outgoing_ = message;
  usable_ = library.messaging.isend(&outgoing_, kBytes, library.byte, peer_, tag, communicator_,
                                    &request) == 0 &&
            outcome_of(request, log::monotonic_raw_ns() + kLocalNs) == Outcome::over;
}

void ClockChannel::close() {
  if (expecting_ && library.messaging.cancel(&receive_) == 0) {
    outcome_of(receive_, log::monotonic_raw_ns() + kLocalNs);
  }
  expecting_ = false;
}

}  // namespace uctrace::mpi
