#include "log-merger/waits/completed_messages.hpp"

#include <algorithm>
#include <string>

#include "log-merger/mpi/operation_of_request.hpp"

namespace uctrace::merge {

bool tells_what_ended(const Job& job, const MpiCall& call, const CallRequests& several) {
  const std::string& function = job.run.texts[call.function];
  return several.ended_known || function == "MPI_Waitall" || function == "MPI_Testall";
}

CompletedMessages::CompletedMessages(const Job& job, ProcessIndex process, RolesOfCalls& roles)
    : job_(job), log_(job.logs[process]), roles_(roles), uses_(job), requests_(job, log_, uses_) {
  for (std::size_t i = log_.ucp_rows.begin; i < log_.ucp_rows.end; ++i) {
    const UcpOp& op = job.ucp[i];
    if (op.asked_by != kNone && !op.tool && (op.is_send() || op.is_receive())) {
      asked_.emplace_back(op.asked_by, UcpIndex(i));
    }
  }
  std::sort(asked_.begin(), asked_.end());
}

const CallTraits& CompletedMessages::traits(CallIndex index) {
  const TextId function = job_.calls[index].function;
  const auto [place, fresh] = traits_.try_emplace(function);
  if (fresh) place->second = call_traits(job_.run.texts[function]);
  return place->second;
}

std::pair<std::size_t, std::size_t> CompletedMessages::asked_by(CallIndex index) const {
  const auto first = std::lower_bound(asked_.begin(), asked_.end(), std::pair(index, UcpIndex(0)));
  auto last = first;
  while (last != asked_.end() && last->first == index) ++last;
  return {static_cast<std::size_t>(first - asked_.begin()),
          static_cast<std::size_t>(last - asked_.begin())};
}

void CompletedMessages::add_messages(CallIndex asked, CallIndex maker, Completed& completed) {
  const auto [begin, end] = asked_by(asked);
  const CallTraits& of_maker = traits(maker);
  for (std::size_t i = begin; i < end; ++i) {
    const UcpOp& op = job_.ucp[asked_[i].second];
    const bool fits = op.is_send() ? of_maker.sends : of_maker.receives;
    if (fits && (asked == maker || may_be_for(job_, op, job_.calls[maker]))) {
      completed.messages.push_back(asked_[i].second);
    }
  }
}

void CompletedMessages::add_request(CallIndex maker, CallIndex waiting, Completed& completed) {
  const MpiCall& made = job_.calls[maker];
  const RoleOfCall role = roles_(made);
  if (is_collective(role.role) && role.begins) {
    completed.operations.emplace_back(maker);
    return;
  }
  const bool persistent = uses_.makes_persistent(made);
  const CallIndex starter =
      persistent ? requests_.starter(maker, job_.calls[waiting].start_tick) : maker;
  const CallTraits& of_maker = traits(maker);
  if (of_maker.partitioned) return;  // another stage's
  if (starter != kNone && roles_.starts(made) != CallRole::other) {
    completed.operations.emplace_back(starter, maker);
    return;
  }
  if (starter == kNone || (of_maker.sends && of_maker.receives)) {
    completed.all_known = false;
    return;
  }
  add_messages(starter, maker, completed);
}

UcpIndex CompletedMessages::receive_of(CallIndex index) const {
  const auto [begin, end] = asked_by(index);
  UcpIndex receive;
  for (std::size_t i = begin; i < end; ++i) {
    if (!job_.ucp[asked_[i].second].is_receive()) continue;
    if (receive != kNone) return {};
    receive = asked_[i].second;
  }
  return receive;
}

CallIndex CompletedMessages::probe_of(CallIndex index) const {
  const std::vector<CallIndex> makers = requests_.makers(index, requests_.given(index));
  return makers.size() == 1 ? makers.front() : CallIndex();
}

Completed CompletedMessages::found_by_test(CallIndex index) {
  const MpiCall& call = job_.calls[index];
  Completed completed;
  if (roles_(call).role != CallRole::other || uses_(call) != RequestUse::waits) return completed;
  const auto several = log_.call_requests.find(index);
  const bool is_told = several == log_.call_requests.end()
                           ? call.answer == Answer::yes
                           : tells_what_ended(job_, call, several->second);
  if (!is_told) return completed;
  std::vector<std::uint64_t> own;
  for (const std::uint64_t handle : requests_.ended_by(index, RequestUse::waits)) {
    if (!requests_.is_shared(handle)) own.push_back(handle);
  }
  for (const CallIndex maker : requests_.makers(index, own)) {
    if (maker != kNone) add_request(maker, index, completed);
  }
  completed.all_known = true;
  return completed;
}

Completed CompletedMessages::of(CallIndex index) {
  Completed completed;
  const CallRole role = roles_(job_.calls[index]).role;
  if (role == CallRole::message) {
    add_messages(index, index, completed);
  } else if (role == CallRole::completes) {
    // Handles that libraries use for all requests that complete immediately: nobody waits for them.
    std::vector<std::uint64_t> own;
    for (const std::uint64_t handle : requests_.waited_for(index)) {
      if (!requests_.is_shared(handle)) own.push_back(handle);
    }
    for (const CallIndex maker : requests_.makers(index, own)) {
      if (maker == kNone) {
        completed.all_known = false;
      } else {
        add_request(maker, index, completed);
      }
    }
  }
  return completed;
}

}  // namespace uctrace::merge
