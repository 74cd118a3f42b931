// One recording thread of a process: makes its records, counts them as the recorder counts, and
// drops them where a fault says so. Times are true nanoseconds; records hold ticks of the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

#include "event-log/format/device_definitions.hpp"
#include "event-log/format/events.hpp"
#include "event-log/format/ucp_wire.hpp"
#include "tests/tracegen/call_stacks.hpp"
#include "tests/tracegen/log_output.hpp"

namespace uctrace::tracegen {

// Counts all records, written or dropped; the truth compares them with a reader's results.
struct Tally {
  std::uint64_t events = 0;  // written
  std::uint64_t uct_posted = 0, uct_arrivals = 0, ucp_operations = 0, mpi_calls = 0;
  Tally& operator+=(const Tally& more);
};

// The purpose of a UCT operation.
struct For {
  log::Origin kind = log::Origin::none;
  log::Route route = log::Route::none;
  log::Id id = 0;
  static For operation(log::Id id, log::Route route = log::Route::call) {
    return {log::Origin::ucp, route, id};
  }
  static For arrival(log::Id id, log::Route route = log::Route::call) {
    return {log::Origin::arrival, route, id};
  }
};

struct UctPost {
  std::uint16_t interface;
  std::uint64_t endpoint;
  log::UctOp op;
  std::uint64_t bytes;
  std::int64_t at_ns;
  For origin{};
  wire::AmId am_id{};
  std::uint8_t protocol = 0;
  std::uint64_t local = 0, remote = 0;
  log::Id parent = 0;
  bool named = false;        // it gets an id although it ends at return: others name it as parent
  bool in_progress = false;  // complete() follows
  bool refused = false;      // for lack of resources
  bool has_memory = false;
  log::TransferMemory memory{};
};

struct UcpCall {
  log::UcpFunction function;
  std::uint64_t handle;
  std::uint64_t bytes = 0, first = 0, second = 0, buffer = 0, third = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  bool in_progress = false;
  std::uint8_t flags = 0;
  log::MemoryId memory = log::kMemoryNotAsked;  // with a belief that is right
};

// The parts of an MPI call that stand behind its record.
struct MpiParts {
  std::int32_t peer = log::MpiCall::kNone, tag = log::MpiCall::kNone;
  std::uint64_t bytes = 0, datatype = 0;
  std::int32_t recv_peer = log::MpiCall::kNone, recv_tag = log::MpiCall::kNone;
  std::uint64_t recv_bytes = 0, recv_datatype = 0;
  std::uint64_t request = 0;
  bool has_peer = false, has_volume = false, has_receive = false;
};

// Recording of events in a process is switched. Its lanes follow, each by itself.
struct SwitchOrder {
  std::uint32_t number = 0;  // 0: all is recorded, always
  bool on = true;
  log::SwitchCause cause = log::SwitchCause::start;
  std::int64_t asked_ns = 0;
};

class Lane {
 public:
  Lane(LogOutput& out, const HostClock& clock, std::uint16_t number, std::uint32_t thread_id);

  std::uint16_t number() const { return number_; }
  void set_call_stacks(CallStacks* stacks) { stacks_ = stacks; }
  void count_unwound() { ++info_.counters.stacks_unwound; }
  log::Id next_ucp_id() { return id(++ucp_ids_); }

  // The id of the operation if it has one, else 0.
  log::Id uct(const UctPost& post, std::initializer_list<std::uint64_t> header = {});
  void uct_done(log::Id operation, std::int64_t at_ns, std::int32_t status = 0);
  // A receive that was posted to an interface ended.
  void tag_receive_done(log::Id operation, std::int64_t at_ns);
  log::Id arrival(std::uint16_t interface, wire::AmId am_id, std::uint64_t bytes,
                  std::int64_t at_ns, std::int64_t handler_ns,
                  std::initializer_list<std::uint64_t> header,
                  log::ArrivalKind kind = log::ArrivalKind::active_message);
  void pending(std::uint16_t interface, std::uint64_t endpoint, std::uint64_t request,
               log::PendingEvent event, std::int64_t at_ns);
  void ucp(log::Id id, const UcpCall& call);
  void sent(log::Id operation, std::int64_t at_ns);
  // `in_arrival`: the instant is that of a short arrival.
  void received(log::Id operation, std::int64_t at_ns, std::int32_t status, std::uint64_t first,
                std::uint64_t length, bool in_arrival);
  void stream_received(log::Id operation, std::int64_t at_ns, log::Id arrival,
                       std::uint64_t length);
  void mpi(std::uint16_t function, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t scope,
           const MpiParts& parts = {}, log::RecordType type = log::RecordType::mpi_call);
  void mpi_requests(std::int64_t call_ns, std::span<const std::uint64_t> handles);

  // A definition: its fixed part and what follows it.
  template <typename Record>
  void define(Record record, log::RecordType type, std::span<const std::uint64_t> tail,
              std::int64_t at_ns) {
    std::uint64_t words[255];
    record.head.type = type;
    record.head.words = static_cast<std::uint8_t>(sizeof record / 8 + tail.size());
    std::memcpy(words, &record, sizeof record);
    std::copy(tail.begin(), tail.end(), words + sizeof record / 8);
    definitions_.add(words, at_ns);
  }

  std::uint64_t tick(std::int64_t true_ns) const { return clock_.tick(true_ns); }
  void set_dropping(bool dropping) { dropping_ = dropping; }
  // The lane follows at its next event, or at once: it is the one that called MPI_Pcontrol.
  void switch_recording(const SwitchOrder& order) { order_ = order; }
  void follow_recording(std::int64_t at_ns) {
    if (followed_ != order_.number) follow(at_ns, is_fresh());
  }
  void set_in_call(const log::CurrentCall& call) { info_.current_call = call; }
  // The recorder writes definitions before events.
  void write_definitions() { definitions_.finish(); }
  void finish();
  const log::LaneInfo& info() const { return info_; }
  const Tally& tally() const { return tally_; }
  std::uint64_t sends_so_far() const {
    return info_.counters.ucp_sends + info_.counters.ucp_am_sends;
  }

 private:
  log::Id id(std::uint64_t number) const { return log::make_id(number_, number); }
  bool is_fresh() const;
  void follow(std::int64_t at_ns, bool first);
  bool records(log::RecordType type, std::int64_t at_ns);
  // False: it was dropped, or not to be recorded.
  bool publish(std::uint64_t* words, log::RecordType type, std::size_t count, std::uint16_t a,
               std::uint32_t b, std::int64_t at_ns);
  void count_ucp(log::UcpFunction function);

  const HostClock& clock_;
  std::uint16_t number_;
  bool dropping_ = false;
  CallStacks* stacks_ = nullptr;
  SwitchOrder order_;
  std::uint32_t followed_ = 0;
  bool recording_ = true;
  RecordStream events_, definitions_;
  log::LaneInfo info_{};
  Tally tally_;
  std::uint64_t ucp_ids_ = 0, uct_ids_ = 0, arrival_ids_ = 0;
};

}  // namespace uctrace::tracegen
