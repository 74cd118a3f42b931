#include "log-merger/partitions/partition_matching.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/processes_of_ranks.hpp"

namespace uctrace::merge {

namespace {

// More than any program has, and few enough to iterate over if a log is damaged.
constexpr std::uint32_t kMostPartitions = 1U << 20;

class Matching {
 public:
  explicit Matching(Job& job) : job_(job), ranks_(job) {}

  RequestOfMaker run() {
    for (const ProcessIndex process : job_.logs.indexes()) add_requests(process);
    for (auto& [key, group] : groups_) match(key, group);
    return std::move(place_of_);
  }

 private:
  using Key = std::tuple<InstanceIndex, ProcessIndex, ProcessIndex, std::int32_t>;
  struct Side {
    std::vector<std::int32_t> requests;  // places in the run
    std::vector<InitSpan> inits;
  };
  struct Group {
    Side send, receive;
  };

  const CallTraits& traits(const MpiCall& call) {
    const auto [place, fresh] = traits_.try_emplace(call.function);
    if (fresh) place->second = call_traits(job_.run.texts[call.function]);
    return place->second;
  }

  void add_requests(ProcessIndex process) {
    std::vector<CallIndex> makers;
    for (const auto& lane : job_.logs[process].calls_of_lane) {
      for (const CallIndex index : lane) {
        const MpiCall& call = job_.calls[index];
        const bool made = !call.open && call.status == 0 && call.request != 0;
        if (made && traits(call).partitioned) makers.push_back(index);
      }
    }
    std::stable_sort(makers.begin(), makers.end(), [&](CallIndex a, CallIndex b) {
      return job_.calls[a].start_tick < job_.calls[b].start_tick;
    });
    for (const CallIndex maker : makers) add_request(maker);
  }

  void add_request(CallIndex maker) {
    const MpiCall& call = job_.calls[maker];
    const ProcessLog& log = job_.logs[call.process];
    const bool sends = traits(call).sends;
    const ProcessIndex peer = peer_of(call);
    PartitionRequest row;
    row.sends = sends;
    row.process = static_cast<std::uint32_t>(call.process.number());
    row.peer = world_rank(job_, call, call.peer);
    row.peer_process = peer.number();
    row.tag = call.tag;
    row.partitions = partitions_of(log, maker);
    row.bytes = call.bytes;
    row.call = maker.number();
    row.t_init_ns = call.end_ns;
    const InstanceIndex instance = call.comm == kNone ? kNone : log.comms[call.comm].instance;
    row.communicator = instance.number();
    const auto place = static_cast<std::int32_t>(job_.run.partition_requests.size());
    job_.run.partition_requests.push_back(row);
    place_of_[maker] = place;
    if (instance == kNone || peer == kNone) return;
    Group& group =
        groups_[{instance, sends ? call.process : peer, sends ? peer : call.process, call.tag}];
    Side& side = sends ? group.send : group.receive;
    side.requests.push_back(place);
    side.inits.push_back({call.start_tick, call.end_tick});
  }

  // 0 = not known.
  static std::uint32_t partitions_of(const ProcessLog& log, CallIndex maker) {
    const auto known = log.call_partitions.find(maker);
    if (known == log.call_partitions.end() || known->second.list.empty()) return 0;
    const std::uint32_t count = known->second.list.front();
    return count <= kMostPartitions ? count : 0;
  }

  ProcessIndex peer_of(const MpiCall& call) const {
    const auto peer = ranks_.addressed(call.process, call.comm, call.peer);
    return peer ? peer->process : ProcessIndex();
  }

  void match(const Key& key, const Group& group) {
    const bool whole =
        job_.logs[std::get<1>(key)].is_whole() && job_.logs[std::get<2>(key)].is_whole();
    const std::vector<bool> send_unclear = unclear_order(group.send.inits);
    const std::vector<bool> receive_unclear = unclear_order(group.receive.inits);
    const std::size_t sends = group.send.requests.size(), receives = group.receive.requests.size();
    for (std::size_t k = 0; k < std::max(sends, receives); ++k) {
      PartitionRequest* const send = k < sends ? &row(group.send.requests[k]) : nullptr;
      PartitionRequest* const receive = k < receives ? &row(group.receive.requests[k]) : nullptr;
      const bool unclear = (k < sends && send_unclear[k]) || (k < receives && receive_unclear[k]);
      const PartitionMatch match = judge(send, receive, whole, unclear);
      if (send != nullptr) send->match = match;
      if (receive != nullptr) receive->match = match;
      if (match == PartitionMatch::matched) {
        send->partner = group.receive.requests[k];
        receive->partner = group.send.requests[k];
      }
    }
  }

  static PartitionMatch judge(const PartitionRequest* send, const PartitionRequest* receive,
                              bool whole, bool unclear) {
    if (!whole) return PartitionMatch::records_missing;
    if (unclear) return PartitionMatch::order_unclear;
    if (send == nullptr || receive == nullptr) return PartitionMatch::no_partner;
    return send->bytes == receive->bytes ? PartitionMatch::matched : PartitionMatch::sizes_differ;
  }

  PartitionRequest& row(std::int32_t place) {
    return job_.run.partition_requests[static_cast<std::size_t>(place)];
  }

  Job& job_;
  const ProcessesOfRanks ranks_;
  std::unordered_map<TextId, CallTraits> traits_;
  RequestOfMaker place_of_;
  std::map<Key, Group> groups_;
};

}  // namespace

std::vector<bool> unclear_order(const std::vector<InitSpan>& inits) {
  std::vector<bool> unclear(inits.size());
  std::size_t first = 0;  // of a chain of overlapping ones
  std::uint64_t end_tick = 0;
  for (std::size_t i = 0; i < inits.size(); ++i) {
    if (inits[i].start_tick >= end_tick) {
      first = i;
    } else {
      for (std::size_t k = i; k > first && !unclear[k - 1]; --k) unclear[k - 1] = true;
      unclear[i] = true;
    }
    end_tick = std::max(end_tick, inits[i].end_tick);
  }
  return unclear;
}

RequestOfMaker find_partition_requests(Job& job) { return Matching(job).run(); }

}  // namespace uctrace::merge
