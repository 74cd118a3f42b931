// Records of one side of a tagged message, part after part of its window, and the truth of it.
#pragma once

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {

// How the calls of MPI around a message are.
struct Calls {
  MpiFunction send = MpiFunction::none, receive = MpiFunction::none;
  // UCP's operation is the first thing that a call for one message does, and takes its time.
  bool shares_time = false;
  bool matched_probe = false;
};
Calls calls_of(const Shape& shape, const Step& step);

struct Instants {
  std::int64_t send_ns, posted_ns, end_ns;
};
Instants instants_of(const Shape& shape, const Step& step, const Message& m);
// When a late receive is called, behind the arrival of what it takes.
std::int64_t late_receive_ns(const Step& step, const Message& m);
// How long posting what a send posts takes.
inline std::int64_t posting_ns(const Message& m) {
  return 60 + kFragmentNs * static_cast<std::int64_t>(m.is_rendezvous() ? 1 : fragments_of(m));
}

// One message at one of its processes.
class Side {
 public:
  Side(ProcessLog& log, const Step& step, const Message& m)
      : log_(log), lane_(log.lane(m.lane)), step_(step), m_(m), times_(step, m, log.rank()) {}
  const Message& message() const { return m_; }

 protected:
  const Shape& shape() const { return log_.shape(); }
  std::uint64_t request_of(std::int32_t rank) const;  // that UCP calls its part of the message
  void stage(std::int64_t at_ns, bool fetch, std::uint64_t gpu_buffer, For origin, log::Id parent);
  void post_control(wire::AmId id, std::uint64_t bytes, std::int64_t at_ns, For origin,
                    std::int32_t peer, std::initializer_list<std::uint64_t> header,
                    const char* protocol);

  ProcessLog& log_;
  Lane& lane_;
  const Step& step_;
  const Message m_;
  Times times_;
  log::Id operation_ = 0;
  log::Id first_transfer_ = 0;
};

class Sender : public Side {
 public:
  using Side::Side;
  void post(const Calls& calls);
  void reply(int part);
  void tell_truth(const Calls& calls);

 private:
  void post_eager(std::int64_t at_ns);
  // Where the receiver's interface matches tags.
  void announce_to_interface(std::int64_t at_ns);
  void reply_to_interface(int part);
  void post_queued(std::int64_t at_ns);
  void dispatch_queued();
  void answer_request();
  UctPost eager_post(std::uint64_t fragment, std::int64_t at_ns) const;

  log::Id asked_by_ = 0;  // the arrival of the receiver's RTR
};

class Receiver : public Side {
 public:
  using Side::Side;
  void post(const Calls& calls);  // before its message comes
  void arrive();
  void take(const Calls& calls);  // in the handler, or of a late receive in the call
  void reply(int part);
  void tell_lost_sender(const Calls& calls);

 private:
  void post_operation(const Calls& calls, std::int64_t at_ns, std::int64_t end_ns);
  void end(std::int64_t at_ns, bool in_arrival);
  // Where the interface matches tags.
  void post_to_interface(std::int64_t at_ns);
  void arrive_at_interface(std::int64_t at_ns);
  void acknowledge_to_interface(std::int64_t at_ns, For origin);
  void get(std::int64_t at_ns, For origin);

  log::Id arrival_ = 0;
  log::Id posted_ = 0;  // to the interface
};

}  // namespace uctrace::tracegen
