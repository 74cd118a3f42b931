#include "log-merger/waits/probed_messages.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

bool may_be(std::int32_t named, std::int32_t value) {
  return named == value || named == log::MpiCall::kAny;
}

// Calls of MPI_Probe whose message is still there.
class Probes {
 public:
  explicit Probes(const Job& job) : job_(job) {}

  void add(CallIndex probe) {
    const MpiCall& call = job_.calls[probe];
    if (!call.open && call.peer >= 0 && call.tag >= 0) all_.push_back(probe);
  }

  // Those of which a receive takes the message for certain. What it may take is no longer known.
  std::vector<CallIndex> taken_by(CommIndex comm, std::int32_t source, std::int32_t tag) {
    std::vector<CallIndex> taken;
    std::erase_if(all_, [&](CallIndex probe) {
      const MpiCall& call = job_.calls[probe];
      if (call.comm != comm || !may_be(source, call.peer) || !may_be(tag, call.tag)) return false;
      if (source == call.peer && tag == call.tag) taken.push_back(probe);
      return true;
    });
    return taken;
  }

  void forget() { all_.clear(); }

 private:
  const Job& job_;
  std::vector<CallIndex> all_;
};

}  // namespace

ProbedMessages::ProbedMessages(const Job& job, ProcessIndex process, CompletedMessages& completed) {
  const auto& lanes = job.logs[process].calls_of_lane;
  const bool one_thread = std::count_if(lanes.begin(), lanes.end(),
                                        [](const auto& lane) { return !lane.empty(); }) == 1;
  Probes probes(job);
  const auto take = [&](CallIndex index) {
    const MpiCall& call = job.calls[index];
    const MpiName name = parse_mpi_name(job.run.texts[call.function]);
    if (name.base == "mrecv") {
      const CallIndex probe = completed.probe_of(index);
      if (probe != kNone) receives_[probe] = completed.receive_of(index);
    } else if (name.base == "probe" && !name.nonblocking && one_thread) {
      probes.add(index);
    } else if (name.base == "mprobe") {
      probes.taken_by(call.comm, call.peer, call.tag);
    } else if (name.base == "recv" && !name.persistent) {
      for (const CallIndex probe : probes.taken_by(call.comm, call.peer, call.tag)) {
        receives_[probe] = completed.receive_of(index);
      }
    } else if (name.base == "sendrecv" || name.base == "sendrecv_replace") {
      probes.taken_by(call.comm, call.recv_peer, call.recv_tag);
    } else if (name.base == "start" || name.base == "startall") {
      probes.forget();
    }
  };
  for (const auto& lane : lanes) {
    for (const CallIndex index : lane) take(index);
  }
}

UcpIndex ProbedMessages::found_by(CallIndex probe) const {
  const auto found = receives_.find(probe);
  return found == receives_.end() ? UcpIndex() : found->second;
}

}  // namespace uctrace::merge
