// Names of communicators. The process that is rank 0 of a communicator counts those it led; its own
// records give this number, so no agreement is needed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

namespace {

// By row of comms: 1, 2, ... in the order of creation; 0 for predefined ones.
ByIndex<Comm, std::uint32_t> numbers_of(const ProcessLog& log) {
  std::vector<std::size_t> order(log.comms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return log.comms[a].tick < log.comms[b].tick;
  });
  ByIndex<Comm, std::uint32_t> numbers(log.comms.size());
  std::uint32_t last = 0;
  for (const std::size_t row : order) {
    const Comm& comm = log.comms[row];
    if (comm.predefined == Predefined::none) numbers[row] = ++last;
  }
  return numbers;
}

class Namer {
 public:
  explicit Namer(Job& job) : job_(job) {
    for (const ProcessLog& log : job.logs) numbers_.push_back(numbers_of(log));
  }

  void name() {
    for (CommInstance& instance : job_.comms) {
      const std::string spelled = name_of(instance);
      std::string name = spelled;
      for (std::size_t again = 2; !used_.insert(name).second; ++again) {
        name = fmt::format("{}#{}", spelled, again);  // of damaged logs
      }
      instance.name = job_.run.texts.intern(name);
    }
    take_names_of_program();
    for (ProcessLog& log : job_.logs) {
      for (Comm& comm : log.comms) {
        const CommInstance& instance = job_.comms[comm.instance];
        comm.name = instance.user_name != kNoText ? instance.user_name : instance.name;
      }
    }
  }

 private:
  std::string name_of(const CommInstance& instance) {
    const CommSide& side = instance.sides[instance.sides[0].world == kNone ? 1 : 0];
    const std::string of_world = side.world > 0 ? fmt::format("@{}", side.world + 1) : "";
    if (instance.letter == 'W') return fmt::format("W0.0{}", of_world);
    const std::string leader = side.leader >= 0 ? std::to_string(side.leader) : "?";
    if (instance.letter == 'S') return fmt::format("S{}.0{}", leader, of_world);
    const std::uint32_t number =
        side.leader_process == kNone ? 0 : numbers_[side.leader_process][side.leader_comm];
    // Its leader's count is not known: counted here instead.
    const std::string counted = number != 0
                                    ? std::to_string(number)
                                    : fmt::format("?{}", ++without_number_[{side.world, leader}]);
    return fmt::format("{}{}.{}{}", instance.letter, leader, counted, of_world);
  }

  // The leader's, else that of any process. MPI's name for the parent communicator says less than
  // the function by which the parents made it.
  void take_names_of_program() {
    for (const ProcessIndex p : job_.logs.indexes()) {
      for (const CommIndex c : job_.logs[p].comms.indexes()) {
        const Comm& comm = job_.logs[p].comms[c];
        CommInstance& instance = job_.comms[comm.instance];
        const CommSide& first = instance.sides[0];
        const bool is_leader = first.leader_process == p && first.leader_comm == c;
        const bool by_mpi = comm.predefined == Predefined::parent && first.world != kNone;
        if (comm.name == kNoText || by_mpi) continue;
        if (is_leader || instance.user_name == kNoText) instance.user_name = comm.name;
      }
    }
  }

  Job& job_;
  ByIndex<ProcessLog, ByIndex<Comm, std::uint32_t>> numbers_;
  std::map<std::pair<Index, std::string>, std::uint32_t> without_number_;
  std::set<std::string> used_;
};

}  // namespace

void name_communicators(Job& job) { Namer(job).name(); }

}  // namespace uctrace::merge
