#include "log-merger/summaries/profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/summaries/call_parts.hpp"

namespace uctrace {

namespace {

template <typename Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

std::vector<ProfileCalls> calls_of(const Run& run) {
  using Key = std::tuple<std::int32_t, TextId, std::uint32_t, std::int32_t, std::int32_t,
                         std::uint64_t, std::uint64_t, std::int32_t, std::int32_t>;
  std::map<Key, ProfileCalls> groups;
  CallParts(run).for_each(Wanted<MpiCallRow>::all(), [&](const CallPart& part) {
    const MpiCallRow& call = part.call;
    const std::int32_t site = call_site_at(run, call.stack);
    ProfileCalls& group = groups[{part.communicator, call.function, call.process, call.peer, site,
                                  call.bytes, call.recv_bytes, call.datatype, call.recv_datatype}];
    group.communicator = part.communicator;
    group.function = call.function;
    group.process = call.process;
    group.peer = call.peer;
    group.call_site = site;
    group.sent_bytes = call.bytes;
    group.received_bytes = call.recv_bytes;
    group.datatype = call.datatype;
    group.recv_datatype = call.recv_datatype;
    group.calls += part.counts ? 1 : 0;
    group.time_ns += part.ns;
    group.min_ns = std::min(group.min_ns, part.ns);
    group.max_ns = std::max(group.max_ns, part.ns);
  });
  return values_of(groups);
}

struct Ends {
  std::int32_t asked, partner;
};

Ends ends_of(const Message& message) {
  return message.initiator == Side::src ? Ends{message.src_process, message.dst_process}
                                        : Ends{message.dst_process, message.src_process};
}

}  // namespace

bool is_on_remote_side(const Run& run, const Communicator& comm, const Process& process) {
  if (comm.remote_size == 0) return false;
  if (comm.world != comm.remote_world) return process.world == comm.remote_world;
  const auto first = run.communicator_members.begin() + comm.first_member;
  return std::any_of(first, first + comm.members, [&](const MemberRun& members) {
    const std::int64_t distance = std::int64_t{process.rank} - members.first;
    const std::int64_t stride = members.stride == 0 ? 1 : members.stride;
    return members.remote && distance % stride == 0 && distance / stride >= 0 &&
           distance / stride < std::int64_t{members.count};
  });
}

std::uint32_t group_size(const Run& run, const Communicator& comm, const Process& process) {
  return comm.remote_size == 0 || is_on_remote_side(run, comm, process) ? comm.size
                                                                        : comm.remote_size;
}

Profile profile_of(const Run& run) {
  Profile profile;
  profile.calls = calls_of(run);
  std::map<std::tuple<std::int32_t, TextId, std::int32_t, std::int32_t>, ProfilePeers> peers;
  std::map<std::tuple<std::int32_t, TextId, std::int32_t, std::int32_t, TextId, TextId, TextId,
                      TextId, Role>,
           ProfileTransfers>
      transfers;
  for (const Message& message : run.messages) {
    if (message.call < 0) continue;
    const Ends ends = ends_of(message);
    ProfilePeers& pair = peers[{message.communicator, message.mpi, ends.asked, ends.partner}];
    pair.communicator = message.communicator;
    pair.function = message.mpi;
    pair.process = ends.asked;
    pair.peer_process = ends.partner;
    ++pair.messages;
    pair.bytes += message.bytes;
    for (std::uint32_t h = 0; h < message.hops; ++h) {
      const Hop& hop = run.hops[message.first_hop + h];
      ProfileTransfers& sum =
          transfers[{message.communicator, message.mpi, ends.asked, ends.partner, hop.transport,
                     hop.device, hop.remote_device, hop.op, hop.role}];
      sum.communicator = message.communicator;
      sum.function = message.mpi;
      sum.process = ends.asked;
      sum.peer_process = ends.partner;
      sum.transport = hop.transport;
      sum.device = hop.device;
      sum.remote_device = hop.remote_device;
      sum.op = hop.op;
      sum.role = hop.role;
      sum.transfers += hop.count;
      sum.bytes += hop.payload_bytes;
      sum.wire_bytes += hop.wire_bytes;
    }
  }
  profile.transfers = values_of(transfers);
  profile.peers = values_of(peers);
  return profile;
}

}  // namespace uctrace
