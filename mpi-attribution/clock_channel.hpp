// Short messages of uctrace between two processes, on uctrace's own communicator. Nothing here
// blocks: each step ends at its deadline.
//
// The buffers are in the channel, and a send that was given up may still read its buffer: a channel
// that was used must live as long as the process.
#pragma once

#include <cstdint>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

struct ClockMessage {
  std::uint64_t number;
  std::uint64_t clock_ns;
};

class ClockChannel {
 public:
  explicit constexpr ClockChannel() = default;

  // Connects to `peer`, a rank of `communicator`. Forgets how an earlier use ended.
  void open(Word communicator, int peer) {
    communicator_ = communicator;
    peer_ = peer;
    usable_ = true;
  }
  bool usable() const { return usable_; }

  // Call it before the other end can send, so that no message arrives unexpected.
  void expect(int tag);
  // The expected message; nullptr if it has not come: you can wait for it again.
  const ClockMessage* wait(std::uint64_t deadline_ns);
  void send(int tag, const ClockMessage& message);
  // Cancels a receive whose message did not come.
  void close();

 private:
  Word communicator_ = 0;
  int peer_ = 0;
  bool usable_ = false;
  bool expecting_ = false;
  Word receive_ = 0;
  ClockMessage incoming_{}, outgoing_{};
};

// The state of a request at its deadline, or once it is over.
enum class Outcome : std::uint8_t { over, late, failed };
Outcome outcome_of(Word& request, std::uint64_t deadline_ns);

}  // namespace uctrace::mpi
