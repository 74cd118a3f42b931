#include "log-merger/partitions/partition_uses.hpp"

#include <algorithm>
#include <unordered_map>

namespace uctrace::merge {

namespace {

class Uses {
 public:
  Uses(const Job& job, ProcessIndex process, const RequestOfMaker& requests,
       std::size_t most_events)
      : job_(job),
        log_(job.logs[process]),
        requests_(requests),
        most_events_(most_events),
        kinds_(job),
        table_(job, log_, kinds_) {}

  UsesOfProcess run() {
    for (const CallIndex index : calls_by_start()) take(index);
    return std::move(found_);
  }

 private:
  // Of all threads. A use begins only after the previous one is complete, so the order of starts
  // tells which use a call belongs to.
  std::vector<CallIndex> calls_by_start() {
    std::vector<CallIndex> calls;
    for (const auto& lane : log_.calls_of_lane) {
      for (const CallIndex index : lane) {
        const RequestUse use = kinds_(job_.calls[index]);
        const bool matters =
            use == RequestUse::makes || use == RequestUse::starts || use == RequestUse::waits;
        if (matters && job_.calls[index].start_ns >= 0) calls.push_back(index);
      }
    }
    std::stable_sort(calls.begin(), calls.end(), [&](CallIndex a, CallIndex b) {
      return job_.calls[a].start_tick < job_.calls[b].start_tick;
    });
    return calls;
  }

  void take(CallIndex index) {
    const MpiCall& call = job_.calls[index];
    const RequestUse use = kinds_(call);
    if (use == RequestUse::makes) {
      if (const auto made = requests_.find(index); made != requests_.end()) {
        add_event(request(made->second).sends ? PartitionEventKind::psend_init
                                              : PartitionEventKind::precv_init,
                  index, made->second, -1, -1);
      }
    } else if (use == RequestUse::starts) {
      const bool readies = readies_partitions(job_, call);
      for (const std::int32_t request : requests_of(index, table_.given(index))) {
        readies ? make_ready(index, request) : start(index, request);
      }
    } else if (asks_for_partition(call)) {
      for (const std::int32_t request : requests_of(index, table_.given(index))) {
        ask(index, request);
      }
    } else if (!call.open) {
      for (const std::int32_t request : requests_of(index, table_.ended_by(index, use))) {
        complete(index, request);
      }
    }
  }

  bool asks_for_partition(const MpiCall& call) const {
    return job_.run.texts[call.function] == "MPI_Parrived";
  }

  // Places of partitioned requests.
  std::vector<std::int32_t> requests_of(CallIndex index,
                                        const std::vector<std::uint64_t>& handles) const {
    std::vector<std::int32_t> found;
    for (const CallIndex maker : table_.makers(index, handles)) {
      const auto request = requests_.find(maker);
      if (request != requests_.end()) found.push_back(request->second);
    }
    return found;
  }

  const PartitionRequest& request(std::int32_t place) const {
    return job_.run.partition_requests[static_cast<std::size_t>(place)];
  }

  // The use for a call that begins at `ns`; -1 = none.
  std::int64_t use_at(std::int32_t request, std::int64_t ns) const {
    const auto newest = newest_.find(request);
    if (newest == newest_.end()) return -1;
    const std::int64_t done_ns = row_of(newest->second).t_complete_ns;
    return done_ns < 0 || ns < done_ns ? newest->second : -1;
  }
  PartitionUse& use(std::int64_t place) { return found_.uses[static_cast<std::size_t>(place)]; }
  const PartitionOperation& row_of(std::int64_t place) const {
    return found_.uses[static_cast<std::size_t>(place)].row;
  }

  void start(CallIndex index, std::int32_t request) {
    const MpiCall& call = job_.calls[index];
    if (!call.open && call.status != 0) return;
    const auto place = static_cast<std::int64_t>(found_.uses.size());
    const auto before = newest_.find(request);
    PartitionUse& use = found_.uses.emplace_back();
    use.row.request = request;
    use.row.number = before == newest_.end() ? 0 : row_of(before->second).number + 1;
    use.row.start_call = index.number();
    use.row.t_start_ns = call.start_ns;
    newest_[request] = place;
    add_event(this->request(request).sends ? PartitionEventKind::psend_request
                                           : PartitionEventKind::precv_request,
              index, request, place, -1);
  }

  void make_ready(CallIndex index, std::int32_t request) {
    const MpiCall& call = job_.calls[index];
    const auto about = log_.call_partitions.find(index);
    if (about == log_.call_partitions.end() || (!call.open && call.status != 0)) return;
    const CallPartitions& named = about->second;
    const std::int64_t place = use_at(request, call.start_ns);
    const auto add = [&](std::int64_t first, std::int64_t last) {
      first = std::max<std::int64_t>(first, 0);
      last = std::min(last, std::int64_t{this->request(request).partitions} - 1);
      if (last < first) return;
      for (std::int64_t i = first; i <= last; ++i) {
        add_event(PartitionEventKind::pready, index, request, place, i);
      }
      if (place >= 0) add_ready(use(place), {first, last, index.number(), call.start_ns});
    };
    if (named.list.empty()) add(named.first, named.last);
    for (const std::uint32_t partition : named.list) add(partition, partition);
  }

  static void add_ready(PartitionUse& use, const PartitionMark& mark) {
    use.ready.push_back(mark);
    use.row.ready += static_cast<std::uint32_t>(mark.last - mark.first + 1);
    use.row.t_ready_ns = mark.ns;  // calls come by their start
    use.row.ready_call = mark.call;
  }

  void ask(CallIndex index, std::int32_t request) {
    const MpiCall& call = job_.calls[index];
    const auto about = log_.call_partitions.find(index);
    if (about == log_.call_partitions.end() || call.open || call.status != 0) return;
    const std::int64_t partition = about->second.first;
    const bool arrived = call.answer == Answer::yes;
    if (partition < 0 || partition >= this->request(request).partitions) return;
    const std::int64_t place = use_at(request, call.start_ns);
    add_event(arrived ? PartitionEventKind::parrived : PartitionEventKind::ptested, index, request,
              place, partition);
    if (arrived && place >= 0) {
      use(place).arrived.push_back({partition, partition, index.number(), call.end_ns});
    }
  }

  // A test or wait of a request that is not in use returns at once and means nothing.
  void complete(CallIndex index, std::int32_t request) {
    const MpiCall& call = job_.calls[index];
    const auto newest = newest_.find(request);
    if (newest == newest_.end() || call.status != 0) return;
    PartitionOperation& row = use(newest->second).row;
    if (row.complete_call >= 0) return;
    row.complete_call = index.number();
    row.t_complete_ns = call.end_ns;
    add_event(this->request(request).sends ? PartitionEventKind::psend_complete
                                           : PartitionEventKind::precv_complete,
              index, request, newest->second, -1);
  }

  static bool is_at_begin(PartitionEventKind kind) {
    return kind == PartitionEventKind::pready || kind == PartitionEventKind::psend_request ||
           kind == PartitionEventKind::precv_request;
  }

  void add_event(PartitionEventKind kind, CallIndex index, std::int32_t request, std::int64_t use,
                 std::int64_t partition) {
    if (found_.events.size() >= most_events_) {
      ++found_.left_out;
      return;
    }
    const MpiCall& call = job_.calls[index];
    PartitionEvent event;
    event.kind = kind;
    event.process = static_cast<std::uint32_t>(call.process.number());
    event.lane = call.lane;
    event.request = request;
    event.operation = use;
    event.partition = static_cast<std::int32_t>(partition);
    event.call = index.number();
    event.t_ns = is_at_begin(kind) ? call.start_ns : call.end_ns;
    found_.events.push_back(event);
  }

  const Job& job_;
  const ProcessLog& log_;
  const RequestOfMaker& requests_;
  const std::size_t most_events_;
  RequestUses kinds_;
  RequestTable table_;
  std::unordered_map<std::int32_t, std::int64_t> newest_;  // use of each request
  UsesOfProcess found_;
};

}  // namespace

UsesOfProcess find_partition_uses(const Job& job, ProcessIndex process,
                                  const RequestOfMaker& requests, std::size_t most_events) {
  return Uses(job, process, requests, most_events).run();
}

}  // namespace uctrace::merge
