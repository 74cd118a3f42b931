#include "log-merger/mpi/requests.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/mpi/request_table.hpp"

namespace uctrace::merge {

namespace {

// Runs `body` for the wanted calls of each process, processes in parallel. Without wanted calls the
// requests of a process are not examined.
template <typename Wanted, typename Body>
void each_call(Job& job, Wanted wanted, Body body) {
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    ProcessLog& log = job.logs[process];
    RequestUses uses(job);
    std::optional<RequestTable> table;
    for (const auto& calls : log.calls_of_lane) {
      for (const CallIndex index : calls) {
        const RequestUse use = uses(job.calls[index]);
        if (!wanted(log, index, use)) continue;
        if (!table) table.emplace(job, log, uses);
        body(process, *table, index, use);
      }
    }
  });
}

// The latest end, on the job clock, of the UCP operations that each call requested. For a call that
// starts requests of several communicators, by communicator. A call's operations are in its own
// process.
class Ends {
 public:
  explicit Ends(const Job& job) : job_(job), of_call_(job.calls.size()) {
    const std::vector<RowSpan> spans =
        spans_of_processes(job, job.ucp.size(), &ProcessLog::ucp_rows);
    of_part_.resize(spans.size());
    job.workers.each(spans.size(), [&](std::size_t span) {
      for (std::size_t i = spans[span].begin; i < spans[span].end; ++i) {
        const UcpOp& op = job.ucp[i];
        if (op.asked_by == kNone) continue;
        of_call_[op.asked_by].add(op.end_ns);
        if (op.comm != kNone && job.calls[op.asked_by].comm == kNone) {
          of_part_[span][{op.asked_by, op.comm}].add(op.end_ns);
        }
      }
    });
  }

  // -1 = not known for at least one of the operations.
  std::int64_t of(CallIndex call, CommIndex comm) const {
    const bool is_alone = of_part_.size() != job_.logs.size();
    const Parts& parts = of_part_[is_alone ? 0 : job_.calls[call].process.place()];
    const auto part = parts.find({call, comm});
    const End& end = part != parts.end() ? part->second : of_call_[call];
    return end.all_known ? end.latest_ns : -1;
  }

 private:
  struct End {
    std::int64_t latest_ns = -1;
    bool all_known = true;

    void add(std::int64_t end_ns) {
      latest_ns = std::max(latest_ns, end_ns);
      all_known = all_known && end_ns >= 0;
    }
  };
  using Parts = std::map<std::pair<CallIndex, CommIndex>, End>;

  const Job& job_;
  ByIndex<MpiCall, End> of_call_;
  std::vector<Parts> of_part_;  // by process
};

struct Waited {
  CommIndex comm;
  std::int64_t end_ns;
};

// The time up to the end of the first goes to the first, the time from there to the second end to
// the second, and the rest to the last.
void divide(const Job& job, const ProcessLog& log, CallIndex index, std::vector<Waited> waited,
            std::vector<TimeShare>& divided) {
  const MpiCall& call = job.calls[index];
  std::stable_sort(waited.begin(), waited.end(),
                   [](const Waited& a, const Waited& b) { return a.end_ns < b.end_ns; });
  std::map<InstanceIndex, TimeShare> shares;
  std::int64_t from = call.start_ns;
  for (const Waited& one : waited) {
    const InstanceIndex instance = one.comm == kNone ? kNone : log.comms[one.comm].instance;
    TimeShare& share = shares[instance];
    share.call = index;
    share.instance = instance;
    ++share.requests;
    const std::int64_t until = &one == &waited.back() ? call.end_ns : one.end_ns;
    share.ns += until - from;
    from = until;
  }
  for (const auto& [instance, share] : shares) divided.push_back(share);
}

bool agree(const std::vector<Waited>& waited) {
  return std::all_of(waited.begin(), waited.end(),
                     [&](const Waited& one) { return one.comm == waited.front().comm; });
}

// A start moves the data of its requests; making partitions ready adds nothing.
void add_volume_of_started(const Job& job, MpiCall& start, const std::vector<CallIndex>& makers) {
  if (readies_partitions(job, start)) return;
  for (const CallIndex maker : makers) {
    if (maker == kNone) continue;
    const MpiCall& made = job.calls[maker];
    const bool receives = parse_mpi_name(job.run.texts[made.function]).only_receives;
    start.bytes += receives ? 0 : made.bytes;
    start.recv_bytes += receives ? made.bytes : made.recv_bytes;
  }
}

}  // namespace

void name_starts(Job& job) {
  const auto comm_of = [&](CallIndex maker) {
    return maker == kNone ? kNone : job.calls[maker].comm;
  };
  // A call that makes a request and is given one receives a probed message.
  const auto is_given_some = [](const ProcessLog& log, CallIndex index, RequestUse use) {
    return use == RequestUse::makes ? log.call_requests.contains(index)
                                    : use != RequestUse::none && use != RequestUse::waits;
  };
  each_call(
      job, is_given_some,
      [&](std::size_t process, const RequestTable& table, CallIndex index, RequestUse use) {
        ProcessLog& log = job.logs[process];
        MpiCall& call = job.calls[index];
        const std::vector<CallIndex> makers = table.makers(index, table.given(index));
        if (use == RequestUse::starts) {
          log.makers_of_started[index] = makers;
          add_volume_of_started(job, call, makers);
        }
        if (call.comm != kNone || makers.empty()) return;
        const CommIndex comm = comm_of(makers.front());
        const bool agree = std::all_of(makers.begin(), makers.end(),
                                       [&](CallIndex maker) { return comm_of(maker) == comm; });
        if (agree) call.comm = comm;
      });
}

void share_waits(Job& job) {
  const Ends ends(job);
  std::vector<std::vector<TimeShare>> shares(job.logs.size());
  const auto is_shared = [&](const ProcessLog&, CallIndex index, RequestUse use) {
    return use == RequestUse::waits && job.calls[index].comm == kNone;
  };
  each_call(
      job, is_shared,
      [&](std::size_t process, const RequestTable& table, CallIndex index, RequestUse) {
        MpiCall& call = job.calls[index];
        std::vector<Waited> waited;
        for (const CallIndex maker : table.makers(index, table.waited_for(index))) {
          if (maker == kNone) continue;  // its maker is not known, or not recorded
          const CallIndex starter = table.starter(maker, call.start_tick);
          const CommIndex comm = job.calls[maker].comm;
          const std::int64_t end = ends.of(starter != kNone ? starter : maker, comm);
          const std::int64_t last_ns = std::max(call.start_ns, call.end_ns);
          waited.push_back({comm, end < 0 ? call.end_ns : std::clamp(end, call.start_ns, last_ns)});
        }
        if (waited.empty()) return;
        if (agree(waited)) {
          call.comm = waited.front().comm;
        } else if (call.end_ns >= call.start_ns) {
          divide(job, job.logs[process], index, std::move(waited), shares[process]);
        }
      });
  for (const auto& of_process : shares) {
    job.shares.insert(job.shares.end(), of_process.begin(), of_process.end());
  }
  std::stable_sort(job.shares.begin(), job.shares.end(),
                   [](const TimeShare& a, const TimeShare& b) { return a.call < b.call; });
}

}  // namespace uctrace::merge
