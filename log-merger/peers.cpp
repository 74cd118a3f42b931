// Who is at the other end: of a UCP endpoint by its worker's uid, of a UCT endpoint by the address
// of the remote interface or endpoint. A process is never identified by its pid.
#include <unordered_map>

#include "log-merger/job.hpp"

namespace uctrace::merge {

namespace {

struct RemoteInterface {
  Index process = kNone;
  TextId device = kNoText;
  bool ambiguous = false;
};

// Transport and address name an interface in the whole job.
using InterfacesByAddress = std::unordered_map<std::string, RemoteInterface>;

std::string interface_key(const Job& job, const Interface& interface, const std::string& address) {
  return job.run.texts[interface.transport] + '\0' + address;
}

InterfacesByAddress index_interfaces(const Job& job) {
  InterfacesByAddress index;
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    for (const Interface& interface : job.logs[p].interfaces) {
      const auto [place, fresh] =
          index.try_emplace(interface_key(job, interface, interface.address),
                            RemoteInterface{static_cast<Index>(p), interface.device, false});
      place->second.ambiguous |= !fresh && place->second.process != static_cast<Index>(p);
    }
  }
  return index;
}

InterfacesByAddress index_endpoint_addresses(const Job& job) {
  InterfacesByAddress index;
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    for (const Endpoint& endpoint : job.logs[p].endpoints) {
      const Interface* interface = job.logs[p].interface(endpoint.interface);
      if (interface != nullptr && !endpoint.own_address.empty()) {
        const auto [place, fresh] =
            index.try_emplace(interface_key(job, *interface, endpoint.own_address),
                              RemoteInterface{static_cast<Index>(p), interface->device, false});
        place->second.ambiguous |= !fresh && place->second.process != static_cast<Index>(p);
      }
    }
  }
  return index;
}

void link_uct_endpoints(Job& job) {
  const InterfacesByAddress interfaces = index_interfaces(job);
  const InterfacesByAddress endpoints = index_endpoint_addresses(job);
  for (ProcessLog& log : job.logs) {
    for (Endpoint& endpoint : log.endpoints) {
      const Interface* interface = log.interface(endpoint.interface);
      if (interface == nullptr || endpoint.remote.empty()) {
        continue;
      }
      const InterfacesByAddress& index = endpoint.to_endpoint ? endpoints : interfaces;
      const auto found = index.find(interface_key(job, *interface, endpoint.remote));
      if (found != index.end() && !found->second.ambiguous) {
        endpoint.peer_process = found->second.process;
        endpoint.remote_device = found->second.device;
      }
    }
  }
}

void link_ucp_operation(Job& job, UcpOp& op) {
  const ProcessLog& log = job.logs[static_cast<std::size_t>(op.process)];
  if (op.has_endpoint()) {
    const Index at = row_at(log.ucp_endpoints, op.handle, op.start_tick);
    if (at == kNone) {
      return;
    }
    const UcpEndpoint& endpoint = log.ucp_endpoints[static_cast<std::size_t>(at)];
    op.peer_uid = endpoint.remote_uid;
    const auto process = job.process_of_uid.find(op.peer_uid);
    op.peer_process =
        op.peer_uid != 0 && process != job.process_of_uid.end() ? process->second : kNone;
  } else if (const Index at = row_at(log.workers, op.handle, op.start_tick); at != kNone) {
    op.worker_uid = log.workers[static_cast<std::size_t>(at)].uid;
  }
}

}  // namespace

Index peer_of(const Job& job, const UctOp& op) {
  const auto& endpoints = job.logs[static_cast<std::size_t>(op.process)].endpoints;
  return op.endpoint_row == kNone
             ? kNone
             : endpoints[static_cast<std::size_t>(op.endpoint_row)].peer_process;
}

void link_peers(Job& job) {
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    for (const Worker& worker : job.logs[p].workers) {
      if (worker.uid != 0) {
        job.process_of_uid[worker.uid] = static_cast<Index>(p);
      }
    }
  }
  for (UcpOp& op : job.ucp) {
    link_ucp_operation(job, op);
  }
  link_uct_endpoints(job);
  for (UctOp& op : job.uct) {
    op.endpoint_row = row_at(job.logs[static_cast<std::size_t>(op.process)].endpoints, op.endpoint,
                             op.start_tick);
  }
}

}  // namespace uctrace::merge
