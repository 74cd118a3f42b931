#include "log-merger/mpi/started_requests.hpp"

#include <algorithm>
#include <map>

#include "log-merger/mpi/request_table.hpp"

namespace uctrace::merge {

StartedRequests::StartedRequests(const Job& job, const ProcessLog& log, TraitsOfCalls& traits,
                                 const Contexts& contexts)
    : job_(job), log_(log), traits_(traits), contexts_(contexts) {
  find_partitioned();
}

StartedRequests::Started& StartedRequests::started_by(CallIndex call) {
  const auto [place, fresh] = started_.try_emplace(call);
  Started& started = place->second;
  if (!fresh) return started;
  const auto makers = log_.makers_of_started.find(call);
  if (makers != log_.makers_of_started.end()) started.makers = makers->second;
  started.taken.resize(started.makers.size());
  started.readies = readies_partitions(job_, this->call(call));
  started.complete =
      !started.makers.empty() &&
      std::find(started.makers.begin(), started.makers.end(), kNone) == started.makers.end();
  return started;
}

// Libraries start requests one after the other: among those that agree, it is the first without an
// operation.
std::optional<CallIndex> StartedRequests::maker_of_message(const UcpOp& op, const DecodedTag& tag) {
  Started& started = started_by(op.call);
  std::optional<CallIndex> again;
  const CommIndex on_comm = contexts_.comm_at(tag, op.start_tick);
  for (std::size_t i = 0; i < started.makers.size(); ++i) {
    const CallIndex maker = started.makers[i];
    if (maker == kNone) continue;
    const CallTraits& traits = traits_(maker);
    const MpiCall& made = call(maker);
    if ((op.is_send() ? !traits.sends || traits.receives : !traits.receives || traits.sends) ||
        (on_comm != kNone && made.comm != kNone && on_comm != made.comm) ||
        !agrees(job_, made, made.peer, made.tag, op, tag)) {
      continue;
    }
    if (!started.taken[i]) {
      started.taken[i] = true;
      return maker;
    }
    again = again ? again : maker;
  }
  return again || started.complete ? again : kNone;
}

std::optional<CallIndex> StartedRequests::maker_of_collective(const UcpOp& op,
                                                              const DecodedTag& tag,
                                                              bool is_owned) {
  Started& started = started_by(op.call);
  const auto known = maker_of_key_.find(key_of(tag));
  if (known != maker_of_key_.end() && std::find(started.makers.begin(), started.makers.end(),
                                                known->second) != started.makers.end()) {
    return known->second;
  }
  if (is_owned) return std::nullopt;
  const CommIndex on_comm = contexts_.comm_at(tag, op.start_tick);
  for (std::size_t i = 0; i < started.makers.size(); ++i) {
    const CallIndex maker = started.makers[i];
    if (maker == kNone || started.taken[i]) continue;
    const CallTraits& traits = traits_(maker);
    const CommIndex comm = call(maker).comm;
    if (!traits.sends || !traits.receives || comm == kNone) continue;
    const Comm& of_maker = log_.comms[comm];
    const bool alone = of_maker.size + of_maker.remote_size == 1;  // it has nobody to talk to
    if (alone || (on_comm != kNone && on_comm != comm)) continue;
    started.taken[i] = true;
    maker_of_key_[key_of(tag)] = maker;
    return maker;
  }
  return started.complete ? std::nullopt : std::optional(CallIndex());
}

// Starting a partitioned receive sends a message to the sender; starting a send sends nothing.
CallIndex StartedRequests::maker_of_untagged(const UcpOp& op) {
  Started& started = started_by(op.call);
  for (std::size_t i = 0; i < started.makers.size(); ++i) {
    const CallIndex maker = started.makers[i];
    if (maker == kNone || started.taken[i] || !traits_(maker).partitioned ||
        traits_(maker).sends != started.readies ||
        !may_be_with(job_, call(maker), call(maker).peer, op)) {
      continue;
    }
    started.taken[i] = true;
    for (Partitioned& send : partitioned_) {
      if (send.maker == maker) send.sent_tick = op.start_tick;
    }
    return maker;
  }
  return kNone;
}

void StartedRequests::find_partitioned() {
  std::map<CallIndex, Partitioned> found;
  for (const auto& [starter, makers] : log_.makers_of_started) {
    const bool readies = readies_partitions(job_, call(starter));
    for (const CallIndex maker : makers) {
      if (maker == kNone || !traits_(maker).partitioned || !traits_(maker).sends) continue;
      Partitioned& send = found[maker];
      send.maker = maker;
      (readies ? send.readies : send.starts).push_back(starter);
    }
  }
  const auto earlier = [&](CallIndex a, CallIndex b) {
    return call(a).start_tick < call(b).start_tick;
  };
  for (auto& [maker, send] : found) {
    std::sort(send.starts.begin(), send.starts.end(), earlier);
    std::sort(send.readies.begin(), send.readies.end(), earlier);
    partitioned_.push_back(std::move(send));
  }
}

CallIndex StartedRequests::last_before(const std::vector<CallIndex>& calls,
                                       std::uint64_t tick) const {
  const auto after = std::upper_bound(
      calls.begin(), calls.end(), tick,
      [&](std::uint64_t t, CallIndex index) { return t < call(index).start_tick; });
  return after == calls.begin() ? kNone : *(after - 1);
}

StartedRequests::Readied StartedRequests::readied_before(const UcpOp& op) {
  constexpr std::uint64_t kMostHeader = 64;
  Readied found;
  Partitioned* of = nullptr;
  for (Partitioned& send : partitioned_) {
    const MpiCall& made = call(send.maker);
    const CallIndex start = last_before(send.starts, op.start_tick);
    const CallIndex ready = last_before(send.readies, op.start_tick);
    if (ready == kNone || start == kNone || send.sent_tick >= call(start).start_tick ||
        call(ready).start_tick < call(start).start_tick || op.bytes < made.bytes ||
        op.bytes > made.bytes + kMostHeader || !may_be_with(job_, made, made.peer, op)) {
      continue;
    }
    if (found.maker != kNone && call(found.maker).comm != made.comm) return {};
    if (found.maker != kNone) continue;
    found = {ready, send.maker};
    of = &send;
  }
  if (of != nullptr) of->sent_tick = op.start_tick;
  return found;
}

}  // namespace uctrace::merge
