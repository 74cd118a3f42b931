#include "log-merger/waits/proven_entries.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace uctrace::merge {

namespace {

// The calls of one process whose messages are examined.
class CallsByMessages {
 public:
  CallsByMessages(const Job& job, ProcessIndex process)
      : job_(job), log_(job.logs[process]), roles_(job) {}

  bool are_meant(CallIndex index) {
    const MpiCall& call = job_.calls[index];
    const CallRole role = roles_(call).role;
    if (has_no_rule(role)) return true;
    if (is_collective(role)) return is_between_groups(call);
    return role == CallRole::other && starts_one(index);
  }

  // Nobody else completes it.
  bool blocks(const MpiCall& call) {
    const RoleOfCall role = roles_(call);
    return role.role != CallRole::other && !role.begins;
  }

 private:
  bool is_between_groups(const MpiCall& call) const {
    if (call.comm == kNone) return false;
    const InstanceIndex instance = log_.comms[call.comm].instance;
    return instance != kNone && job_.comms[instance].inter;
  }

  bool starts_one(CallIndex index) {
    const auto makers = log_.makers_of_started.find(index);
    if (makers == log_.makers_of_started.end() || makers->second.size() != 1) return false;
    const CallIndex maker = makers->second.front();
    if (maker == kNone) return false;
    const MpiCall& made = job_.calls[maker];
    const CallRole role = roles_.starts(made);
    return has_no_rule(role) || (is_collective(role) && is_between_groups(made));
  }

  const Job& job_;
  const ProcessLog& log_;
  RolesOfCalls roles_;
};

CallIndex later(const Job& job, CallIndex a, CallIndex b) {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return job.calls[b].start_ns > job.calls[a].start_ns ? b : a;
}

}  // namespace

ProvenEntries::ProvenEntries(const Job& job) {
  std::vector<std::vector<Link>> found(job.logs.size());
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    found[process] = links_of(job, ProcessIndex(process));
  });
  std::vector<Link> links;
  for (std::vector<Link>& own : found) {
    links.insert(links.end(), own.begin(), own.end());
    own = {};
  }
  for (const Link& link : links) direct_.emplace_back(link.to, link.from);
  std::sort(direct_.begin(), direct_.end());
  direct_.erase(std::unique(direct_.begin(), direct_.end()), direct_.end());
  follow(job, links);
}

std::vector<ProvenEntries::Link> ProvenEntries::links_of(const Job& job, ProcessIndex process) {
  CallsByMessages calls(job, process);
  std::vector<Link> links;
  const RowSpan rows = job.logs[process].ucp_rows;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const UcpOp& receive = job.ucp[i];
    const bool is_known = receive.match == Match::exact || receive.match == Match::inferred;
    if (!receive.is_receive() || receive.asked_by == kNone || receive.partner == kNone ||
        !is_known || receive.end_ns < 0 || !calls.are_meant(receive.asked_by)) {
      continue;
    }
    const UcpOp& send = job.ucp[receive.partner];
    if (send.process == process || send.asked_by == kNone || send.start_ns < 0 ||
        job.calls[send.asked_by].start_ns < 0) {
      continue;
    }
    // A call did not wait for messages that came after its end.
    const MpiCall& own = job.calls[receive.asked_by];
    if (calls.blocks(own) && receive.end_ns > own.end_ns) continue;
    links.push_back({send.asked_by, receive.asked_by, send.start_ns, receive.end_ns});
  }
  return links;
}

void ProvenEntries::follow(const Job& job, const std::vector<Link>& links) {
  using Event = std::tuple<std::int64_t, bool, std::size_t>;  // time, whether received, link
  std::vector<Event> events;
  events.reserve(2 * links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    events.emplace_back(links[i].sent_ns, false, i);
    events.emplace_back(std::max(links[i].sent_ns, links[i].received_ns), true, i);
  }
  std::sort(events.begin(), events.end());
  std::vector<CallIndex> carried(links.size());
  for (const auto& [ns, is_received, i] : events) {
    const Link& link = links[i];
    if (!is_received) {
      carried[i] = later(job, link.from, latest(link.from));
      continue;
    }
    // If its own process entered last, nobody was late for it.
    if (job.calls[carried[i]].process == job.calls[link.to].process) carried[i] = link.from;
    CallIndex& of_call = latest_[link.to];
    of_call = later(job, of_call, carried[i]);
  }
}

CallIndex ProvenEntries::latest(CallIndex call) const {
  const auto found = latest_.find(call);
  return found == latest_.end() ? CallIndex() : found->second;
}

std::span<const std::pair<CallIndex, CallIndex>> ProvenEntries::direct(CallIndex call) const {
  const auto begin = std::lower_bound(direct_.begin(), direct_.end(), std::pair(call, CallIndex()));
  auto end = begin;
  while (end != direct_.end() && end->first == call) ++end;
  return {begin, end};
}

std::vector<CallIndex> ProvenEntries::calls() const {
  std::vector<CallIndex> calls;
  for (const auto& [to, from] : direct_) {
    if (calls.empty() || calls.back() != to) calls.push_back(to);
  }
  return calls;
}

}  // namespace uctrace::merge
