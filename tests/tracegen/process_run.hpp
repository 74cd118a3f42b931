// What one process does: the steps of the job, one after the other, and what precedes and follows
// them.
#pragma once

#include "tests/tracegen/two_sided.hpp"

namespace uctrace::tracegen {

struct Plan {
  std::uint64_t steps = 0;
  std::int64_t begin_ns = 0;   // of the first step
  std::uint64_t messages = 0;  // of all processes, about
};

// When the steps of a job may begin: behind the measurements of all clocks.
std::int64_t first_step_ns(const Shape& shape);
// As many steps as give about the requested number of events.
Plan make_plan(const Shape& shape);

// Steps of which a process drops the records: [first, second).
std::pair<std::uint64_t, std::uint64_t> dropped_steps(const Shape& shape, const Plan& plan,
                                                      std::int32_t rank);

// Whether a process records the events of a step.
bool is_recorded(const Shape& shape, std::int32_t rank, std::uint64_t step);
// [first, second) of steps, in the order of time; of a run that is recorded as a whole none.
std::vector<std::pair<std::uint64_t, std::uint64_t>> recorded_steps(const Shape& shape,
                                                                    std::int32_t rank);

// The step for which requests of a kind are made, before there is any.
Step persistent_step(const Shape& shape, StepKind kind);
std::uint64_t persistent_request(StepKind kind, bool receives, std::uint16_t lane,
                                 std::uint32_t slot);
// How long making the requests of partitioned messages takes.
std::int64_t making_partitioned_ns(const Shape& shape);

// The handle of a request of MPI.
inline std::uint64_t mpi_request(bool receives, std::uint16_t lane, std::uint32_t slot) {
  return (receives ? 0x9c000000u : 0x6c000000u) + (std::uint64_t{lane} << 20) + slot;
}

// Writes all of a process's events.
class ProcessRun {
 public:
  ProcessRun(ProcessLog& log, const Plan& plan) : log_(log), shape_(log.shape()), plan_(plan) {}
  // Returns the true time of its end.
  std::int64_t run();

 private:
  static constexpr int kLastPart = Step::kReplies - 1;
  struct Window {
    std::vector<Sender> senders;
    std::vector<Receiver> receivers;
  };
  void switch_recording(bool on, log::SwitchCause cause, std::int64_t at_ns);
  void run_step(const Step& step);
  void fill_window(const Step& step, std::uint32_t window, std::uint16_t lane);
  void post_receives(const Calls& calls);
  void replies(const Step& step, const Calls& calls, int first, int last);
  void tell_truth(const Calls& calls);

  // Kinds of steps, for one lane.
  void at_once(const Step& step, std::uint16_t lane);
  void persistent(const Step& step, std::uint16_t lane);
  void blocking(const Step& step, std::uint32_t window, std::uint16_t lane);
  void sendrecv(const Step& step, std::uint32_t window, std::uint16_t lane);
  void collective(const Step& step);
  void file(const Step& step);
  void call_on_file(const Step& step, std::uint32_t which);
  void cancel(const Step& step, std::uint16_t lane);
  void make_persistent();
  void free_persistent(std::int64_t at_ns);
  void make_partitioned();
  void partitioned(const Step& step, std::uint16_t lane);
  // The handles of a window's requests, which live longer than its messages.
  std::vector<std::uint64_t> persistent_requests(StepKind kind, std::uint16_t lane) const;
  void free_requests(StepKind kind, std::int64_t at_ns);
  void call(std::uint16_t lane, MpiFunction function, std::int64_t begin_ns, std::int64_t end_ns,
            std::uint64_t scope, const MpiParts& parts = {},
            log::RecordType type = log::RecordType::mpi_call);
  MpiParts message_parts(const Step& step, std::int32_t peer, const Message& m) const;

  ProcessLog& log_;
  const Shape& shape_;
  const Plan& plan_;
  Window window_;
  SwitchOrder recording_;
};

}  // namespace uctrace::tracegen
