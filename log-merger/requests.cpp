#include "log-merger/requests.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "log-merger/job.hpp"
#include "log-merger/mpi_names.hpp"

namespace uctrace::merge {

namespace {

// What a function does with the request in its record.
enum class Use : std::uint8_t { none, makes, starts, ends, waits };

Use use_of(const MpiName& name) {
  constexpr std::string_view kMakers[] = {
      "comm_idup", "comm_idup_with_info", "mprobe",          "rput",
      "rget",      "raccumulate",         "rget_accumulate", "grequest_start"};
  if (name.nonblocking || name.persistent || name.base.starts_with("file_i") ||
      std::find(std::begin(kMakers), std::end(kMakers), name.base) != std::end(kMakers)) {
    return Use::makes;
  }
  if (name.base == "start" || name.base == "startall" || name.base.starts_with("pready")) {
    return Use::starts;
  }
  if (name.base == "mrecv" || name.base == "cancel" || name.base == "request_free") {
    return Use::ends;
  }
  const bool waits = name.base.starts_with("wait") || name.base.starts_with("test") ||
                     name.base == "request_get_status" || name.base == "parrived";
  return waits ? Use::waits : Use::none;
}

class Uses {
 public:
  explicit Uses(const Job& job) : job_(job) {}

  Use operator()(const MpiCall& call) {
    const auto [place, fresh] = known_.try_emplace(call.function, Use::none);
    if (fresh) place->second = use_of(parse_mpi_name(job_.run.texts[call.function]));
    return place->second;
  }

 private:
  const Job& job_;
  std::unordered_map<TextId, Use> known_;
};

// A call that made or started what the handle stands for from then on.
struct HandleUse {
  std::uint64_t handle, tick;
  Index call;
};

// The requests of one process.
class RequestTable {
 public:
  RequestTable(const Job& job, const ProcessLog& log, Uses& uses) : job_(job), log_(log) {
    for (const auto& calls : log.calls_of_lane) {
      for (const Index index : calls) {
        const MpiCall& call = job.calls[static_cast<std::size_t>(index)];
        const Use use = uses(call);
        if (use == Use::makes && call.request != 0 && !call.open) {
          made_.push_back({call.request, call.end_tick, index});
        } else if (use == Use::starts) {
          for (const std::uint64_t handle : handles_of(index)) {
            started_.push_back({handle, call.start_tick, index});
          }
        }
      }
    }
    sort_by_handle(made_);
    sort_by_handle(started_);
  }

  // The call that made the request which `handle` meant at `tick`.
  Index maker(std::uint64_t handle, std::uint64_t tick) const { return at(made_, handle, tick); }
  // Of a persistent request the one that started it last; else kNone.
  Index starter(std::uint64_t handle, std::uint64_t tick) const {
    const Index start = at(started_, handle, tick);
    const Index made = maker(handle, tick);
    const bool is_of_it =
        start != kNone && made != kNone && call(start).start_tick >= call(made).end_tick;
    return is_of_it ? start : kNone;
  }

  std::vector<std::uint64_t> handles_of(Index index) const {
    const auto several = log_.call_requests.find(index);
    if (several != log_.call_requests.end()) return several->second.handles;
    const std::uint64_t one = call(index).request;
    return one == 0 ? std::vector<std::uint64_t>{} : std::vector{one};
  }

  // Those that the time of a call that waits went to: what it ended, else what it asked about.
  std::vector<std::uint64_t> waited_for(Index index) const {
    const auto several = log_.call_requests.find(index);
    if (several == log_.call_requests.end()) return handles_of(index);
    const CallRequests& requests = several->second;
    if (!requests.ended_known) {
      // The one that ended, of a call that ends one of several; else all of them.
      const bool ends_one = call(index).request != 0;
      return ends_one ? std::vector{call(index).request} : requests.handles;
    }
    std::vector<std::uint64_t> ended;
    for (const std::uint32_t position : requests.ended) {
      if (position < requests.handles.size()) ended.push_back(requests.handles[position]);
    }
    return ended.empty() ? requests.handles : ended;
  }

 private:
  const MpiCall& call(Index index) const { return job_.calls[static_cast<std::size_t>(index)]; }

  static Index at(const std::vector<HandleUse>& uses, std::uint64_t handle, std::uint64_t tick) {
    const Index row = row_at(uses, handle, tick);
    return row == kNone ? kNone : uses[static_cast<std::size_t>(row)].call;
  }

  const Job& job_;
  const ProcessLog& log_;
  std::vector<HandleUse> made_, started_;
};

template <typename Body>
void each_process(Job& job, Body body) {
  Uses uses(job);
  for (const ProcessLog& log : job.logs) {
    const RequestTable table(job, log, uses);
    for (const auto& calls : log.calls_of_lane) {
      for (const Index index : calls) {
        body(log, table, index, uses(job.calls[static_cast<std::size_t>(index)]));
      }
    }
  }
}

// Latest end, on the job clock, of what each call asked UCP for; -1 = it is not known.
std::vector<std::int64_t> ends_of_calls(const Job& job) {
  std::vector<std::int64_t> ends(job.calls.size(), -1);
  for (const UcpOp& op : job.ucp) {
    if (op.asked_by == kNone) continue;
    std::int64_t& end = ends[static_cast<std::size_t>(op.asked_by)];
    end = std::max(end, op.end_ns);
  }
  return ends;
}

struct Waited {
  Index comm;  // into the process's comms
  std::int64_t end_ns;
};

// The time up to the end of the first goes to the first, from there to the second, and what is left
// to the last.
void divide(Job& job, const ProcessLog& log, Index index, std::vector<Waited> waited) {
  const MpiCall& call = job.calls[static_cast<std::size_t>(index)];
  std::stable_sort(waited.begin(), waited.end(),
                   [](const Waited& a, const Waited& b) { return a.end_ns < b.end_ns; });
  std::map<Index, TimeShare> shares;
  std::int64_t from = call.start_ns;
  for (const Waited& one : waited) {
    const Index instance =
        one.comm == kNone ? kNone : log.comms[static_cast<std::size_t>(one.comm)].instance;
    TimeShare& share = shares[instance];
    share.call = index;
    share.instance = instance;
    ++share.requests;
    const std::int64_t until = &one == &waited.back() ? call.end_ns : one.end_ns;
    share.ns += until - from;
    from = until;
  }
  for (const auto& [instance, share] : shares) job.shares.push_back(share);
}

bool agree(const std::vector<Waited>& waited) {
  return std::all_of(waited.begin(), waited.end(),
                     [&](const Waited& one) { return one.comm == waited.front().comm; });
}

}  // namespace

void name_starts(Job& job) {
  each_process(job, [&](const ProcessLog&, const RequestTable& table, Index index, Use use) {
    MpiCall& call = job.calls[static_cast<std::size_t>(index)];
    if ((use != Use::starts && use != Use::ends) || call.comm != kNone) return;
    std::vector<Waited> given;
    for (const std::uint64_t handle : table.handles_of(index)) {
      const Index maker = table.maker(handle, call.start_tick);
      const Index comm = maker == kNone ? kNone : job.calls[static_cast<std::size_t>(maker)].comm;
      given.push_back({comm, 0});
    }
    if (!given.empty() && agree(given)) call.comm = given.front().comm;
  });
}

void share_waits(Job& job) {
  const std::vector<std::int64_t> ends = ends_of_calls(job);
  each_process(job, [&](const ProcessLog& log, const RequestTable& table, Index index, Use use) {
    MpiCall& call = job.calls[static_cast<std::size_t>(index)];
    if (use != Use::waits || call.comm != kNone) return;
    std::vector<Waited> waited;
    for (const std::uint64_t handle : table.waited_for(index)) {
      const Index maker = table.maker(handle, call.start_tick);
      if (maker == kNone) continue;  // a null request, or one that no recorded call made
      const Index starter = table.starter(handle, call.start_tick);
      const std::int64_t end = ends[static_cast<std::size_t>(starter != kNone ? starter : maker)];
      waited.push_back(
          {job.calls[static_cast<std::size_t>(maker)].comm,
           end < 0 ? call.end_ns
                   : std::clamp(end, call.start_ns, std::max(call.start_ns, call.end_ns))});
    }
    if (waited.empty()) return;
    if (agree(waited)) {
      call.comm = waited.front().comm;
    } else if (call.end_ns >= call.start_ns) {
      divide(job, log, index, std::move(waited));
    }
  });
  std::stable_sort(job.shares.begin(), job.shares.end(),
                   [](const TimeShare& a, const TimeShare& b) { return a.call < b.call; });
}

}  // namespace uctrace::merge
