// Short messages of the tool's own between two processes, on a communicator of the tool's own.
// Nothing here blocks: each step ends at its deadline.
//
// The buffers lie in the channel, and a send that is given up may still read its own: a channel
// that was used lives as long as the process.
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

  // Of `peer`, a rank of `communicator`. Forgets how an earlier use ended.
  void open(Word communicator, int peer) {
    communicator_ = communicator;
    peer_ = peer;
    usable_ = true;
  }
  bool usable() const { return usable_; }

  // To be called before the other end can send, so that nothing has to be kept for it.
  void expect(int tag);
  // The message that is expected, nullptr if it has not come: it may be waited for again.
  const ClockMessage* wait(std::uint64_t deadline_ns);
  void send(int tag, const ClockMessage& message);
  // Takes back what is expected and did not come.
  void close();

 private:
  Word communicator_ = 0;
  int peer_ = 0;
  bool usable_ = false;
  bool expecting_ = false;
  Word receive_ = 0;
  ClockMessage incoming_{}, outgoing_{};
};

// How a request is at its deadline, or once it is over.
enum class Outcome : std::uint8_t { over, late, failed };
Outcome outcome_of(Word& request, std::uint64_t deadline_ns);

}  // namespace uctrace::mpi
