#include "log-merger/summaries/profile.hpp"

#include <algorithm>

#include "log-merger/summaries/call_parts.hpp"
#include "log-merger/summaries/grouped.hpp"

namespace uctrace {

namespace {

std::vector<ProfileCalls> calls_of(const Run& run) {
  Grouped<ProfileCalls> groups;
  CallParts(run).for_each(Wanted<MpiCallRow>::all(), [&](const CallPart& part) {
    const MpiCallRow& call = part.call;
    groups.add({.communicator = part.communicator,
                .function = call.function,
                .process = call.process,
                .peer = call.peer,
                .call_site = call_site_at(run, call.stack),
                .sent_bytes = call.bytes,
                .received_bytes = call.recv_bytes,
                .datatype = call.datatype,
                .recv_datatype = call.recv_datatype,
                .calls = part.counts ? 1u : 0u,
                .time_ns = part.ns,
                .min_ns = part.ns,
                .max_ns = part.ns});
  });
  return groups.finish();
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

ProfileCalls& ProfileCalls::operator+=(const ProfileCalls& more) {
  calls += more.calls;
  time_ns += more.time_ns;
  min_ns = std::min(min_ns, more.min_ns);
  max_ns = std::max(max_ns, more.max_ns);
  return *this;
}

ProfileTransfers& ProfileTransfers::operator+=(const ProfileTransfers& more) {
  transfers += more.transfers;
  bytes += more.bytes;
  wire_bytes += more.wire_bytes;
  return *this;
}

ProfilePeers& ProfilePeers::operator+=(const ProfilePeers& more) {
  messages += more.messages;
  bytes += more.bytes;
  return *this;
}

Profile profile_of(const Run& run) {
  Grouped<ProfilePeers> peers;
  Grouped<ProfileTransfers> transfers;
  for (const Message& message : run.messages) {
    if (message.call < 0) continue;
    const Ends ends = ends_of(message);
    peers.add({.communicator = message.communicator,
               .function = message.mpi,
               .process = ends.asked,
               .peer_process = ends.partner,
               .messages = 1,
               .bytes = message.bytes});
    for (const Hop& hop : path_of(run, message)) {
      transfers.add({.communicator = message.communicator,
                     .function = message.mpi,
                     .process = ends.asked,
                     .peer_process = ends.partner,
                     .transport = hop.transport,
                     .device = hop.device,
                     .remote_device = hop.remote_device,
                     .op = hop.op,
                     .role = hop.role,
                     .transfers = hop.count,
                     .bytes = hop.payload_bytes,
                     .wire_bytes = hop.wire_bytes});
    }
  }
  return {calls_of(run), transfers.finish(), peers.finish()};
}

}  // namespace uctrace
