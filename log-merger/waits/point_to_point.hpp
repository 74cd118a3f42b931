// Late senders, late receivers and wrong order, of one process. Private to the waits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/waits/collectives.hpp"
#include "log-merger/waits/completed_messages.hpp"
#include "log-merger/waits/dependencies.hpp"
#include "log-merger/waits/meetings.hpp"
#include "log-merger/waits/partitioned.hpp"
#include "log-merger/waits/probed_messages.hpp"
#include "log-merger/waits/wait_maker.hpp"

namespace uctrace::merge {

class PointToPoint {
 public:
  PointToPoint(const Job& job, ProcessIndex process, RolesOfCalls& roles,
               const Collectives& collectives, const PartitionedMessages& partitioned)
      : job_(job),
        maker_(job),
        process_(process),
        completed_(job, process, roles),
        collectives_(collectives),
        partitioned_(partitioned) {}

  // Call it for each call of a lane that waits for messages or requests, in order.
  void take(CallIndex index);
  void take_probe(CallIndex index);
  // For a `role` without a rule, in a call of no known operation.
  void take_without_rule(CallIndex index, CallRole role);
  // For all others: a test waits for nobody, but depends on what it finds.
  void take_test(CallIndex index) { add_dependencies(index, completed_.found_by_test(index)); }
  // The rows of all calls taken, and the messages that they received.
  std::vector<Wait> finish();
  std::vector<ReceivedMessage> take_received() { return std::move(messages_); }
  // The dependencies of its calls, however short the wait.
  DependenciesOfProcess take_dependencies() { return std::move(dependencies_); }

 private:
  // A received message: when the completing call began, when the message had been sent, and the
  // clock error.
  struct Received {
    std::int64_t completing_ns, posted_ns, sent_ns, margin_ns;
    std::int32_t source;
    std::uint16_t lane;
    CommIndex comm;
  };

  std::vector<Awaited> late_senders(CallIndex index, const Completed& completed);
  std::vector<Awaited> late_receivers(CallIndex index, const Completed& completed);
  Awaited late_sender(CallIndex index, const UcpOp& receive);
  std::int64_t began_ns(const UcpOp& op) const;
  bool waits_for_receiver(const UcpOp& send) const;
  void take_partitions(CallIndex index, std::vector<Awaited>& awaited);
  bool is_wrong_order(const Wait& late_sender) const;
  void add_dependencies(CallIndex index, const Completed& completed);
  void find_wrong_order();

  const Job& job_;
  WaitMaker maker_;
  const ProcessIndex process_;
  CompletedMessages completed_;
  std::optional<ProbedMessages> probed_;  // once there is a probe
  const Collectives& collectives_;
  const PartitionedMessages& partitioned_;
  std::vector<Wait> rows_, of_probes_;
  std::vector<ReceivedMessage> messages_;
  DependenciesOfProcess dependencies_;
  std::vector<Received> received_;  // by the calls that completed them
};

}  // namespace uctrace::merge
