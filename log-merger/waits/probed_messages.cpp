#include "log-merger/waits/probed_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "log-merger/job/log_damage.hpp"
#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

bool may_be(std::int32_t named, std::int32_t value) {
  return named == value || named == log::MpiCall::kAny;
}

enum class Handling : std::uint8_t {
  none,
  finds,
  takes,
  gives_handle,
  receives,
  exchanges,
  starts
};

Handling handling_of(std::string_view function) {
  const MpiName name = parse_mpi_name(function);
  if (name.base == "mrecv") return Handling::takes;
  if (name.base == "mprobe") return Handling::gives_handle;
  if (name.base == "probe") return name.nonblocking ? Handling::none : Handling::finds;
  if (name.base == "recv") return name.persistent ? Handling::none : Handling::receives;
  if (name.base == "sendrecv" || name.base == "sendrecv_replace") return Handling::exchanges;
  return name.base == "start" || name.base == "startall" ? Handling::starts : Handling::none;
}

// Calls of MPI_Probe whose message is still there.
class Probes {
 public:
  explicit Probes(const Job& job) : job_(job) {}

  void add(CallIndex probe) {
    const MpiCall& call = job_.calls[probe];
    if (!call.open && call.peer >= 0 && call.tag >= 0) all_.push_back(probe);
  }

  // Removes probes whose message the receive certainly takes. Those whose message it may take are
  // no longer known.
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
  const ProcessLog& log = job.logs[process];
  const bool has_all_calls = log.dropped(log::DropKind::mpi) == 0 && unreadable_parts(log) == 0;
  Probes probes(job);
  const auto receive = [&](CallIndex index) {
    const MpiCall& call = job.calls[index];
    for (const CallIndex probe : probes.taken_by(call.comm, call.peer, call.tag)) {
      if (log.whole(job.calls[probe].start_ns, call.start_ns)) {
        receives_[probe] = completed.receive_of(index);
      }
    }
  };
  std::unordered_map<TextId, Handling> handlings;
  const auto take = [&](CallIndex index) {
    const MpiCall& call = job.calls[index];
    const auto [handling, fresh] = handlings.try_emplace(call.function);
    if (fresh) handling->second = handling_of(job.run.texts[call.function]);
    switch (handling->second) {
      case Handling::takes:
        if (const CallIndex probe = completed.probe_of(index); probe != kNone) {
          receives_[probe] = completed.receive_of(index);
        }
        break;
      case Handling::finds:
        if (one_thread && has_all_calls) probes.add(index);
        break;
      case Handling::gives_handle:
        probes.taken_by(call.comm, call.peer, call.tag);
        break;
      case Handling::receives:
        receive(index);
        break;
      case Handling::exchanges:
        probes.taken_by(call.comm, call.recv_peer, call.recv_tag);
        break;
      case Handling::starts:
        probes.forget();
        break;
      case Handling::none:
        break;
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
