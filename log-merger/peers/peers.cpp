// Finds the peers of endpoints. Of a UCT endpoint by the address of the remote interface or
// endpoint. Of a UCP endpoint by its worker's uid, by its connection's socket addresses, or by the
// destination of its transfers. A process is never identified by its pid, and reused names are
// resolved by time.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "log-merger/job/job.hpp"
#include "log-merger/peers/connections.hpp"

namespace uctrace::merge {

namespace {

// From when to when something was there, on the job clock.
struct Life {
  std::int64_t begin_ns, end_ns;
};

Life life_of(const ProcessLog& log, std::uint64_t tick, std::uint64_t end_tick) {
  return {log.clock.job_ns(tick), end_tick == UINT64_MAX ? INT64_MAX : log.clock.job_ns(end_tick)};
}

// Things of the whole job by a name that should be unique.
template <typename Name, typename Thing>
class Directory {
 public:
  void add(const Name& name, const Life& life, const Thing& thing) {
    entries_[name].push_back({life, thing});
  }

  // The only one of this name, else the only one that existed at `ns`; nullptr: none, or several.
  const Thing* find(const Name& name, std::int64_t ns) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      return nullptr;
    }
    if (found->second.size() == 1) {
      return &found->second.front().thing;
    }
    const Thing* there = nullptr;
    for (const Entry& entry : found->second) {
      if (entry.life.begin_ns <= ns && ns <= entry.life.end_ns) {
        if (there != nullptr && !(*there == entry.thing)) {
          return nullptr;
        }
        there = &entry.thing;
      }
    }
    return there;
  }

 private:
  struct Entry {
    Life life;
    Thing thing;
  };
  std::unordered_map<Name, std::vector<Entry>> entries_;
};

struct RemoteInterface {
  Peer peer;
  TextId device = kNoText;
  bool operator==(const RemoteInterface& other) const {
    return peer.process == other.peer.process && peer.uid == other.peer.uid &&
           device == other.device;
  }
};

// Transport and address name an interface in the whole job.
std::string address_key(const Job& job, const Interface& interface, const std::string& address) {
  return job.run.texts[interface.transport] + '\0' + address;
}

RemoteInterface remote_interface(const ProcessLog& log, ProcessIndex process,
                                 const Interface& interface) {
  const auto worker = log.worker_at(interface.worker, interface.worker_tick);
  const std::uint64_t uid = worker == kNone ? 0 : log.workers[worker].uid;
  return {{process, uid}, interface.device};
}

// The peers of UCT's endpoints.
class UctPeers {
 public:
  explicit UctPeers(Job& job) : job_(job) {}

  void link() {
    for (const ProcessIndex process : job_.logs.indexes()) add_addresses(process);
    for (ProcessLog& log : job_.logs) {
      for (Endpoint& endpoint : log.endpoints) {
        link(log, endpoint);
      }
    }
    each_process_of(
        job_, job_.uct.size(), &ProcessLog::uct_rows, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            UctOp& op = job_.uct[i];
            op.endpoint_row = row_at(job_.logs[op.process].endpoints, op.endpoint, op.start_tick);
          }
        });
  }

 private:
  void add_addresses(ProcessIndex process) {
    const ProcessLog& log = job_.logs[process];
    for (const Interface& interface : log.interfaces) {
      interfaces_.add(address_key(job_, interface, interface.address),
                      life_of(log, interface.tick, interface.end_tick),
                      remote_interface(log, process, interface));
    }
    for (const Endpoint& endpoint : log.endpoints) {
      const Interface* interface = log.interface(endpoint.interface);
      if (interface != nullptr && !endpoint.own_address.empty()) {
        endpoints_.add(address_key(job_, *interface, endpoint.own_address),
                       life_of(log, endpoint.tick, interface->end_tick),
                       remote_interface(log, process, *interface));
      }
    }
  }

  void link(const ProcessLog& log, Endpoint& endpoint) {
    const Interface* interface = log.interface(endpoint.interface);
    if (interface == nullptr || endpoint.remote.empty()) {
      return;
    }
    const RemoteInterface* found = (endpoint.to_endpoint ? endpoints_ : interfaces_)
                                       .find(address_key(job_, *interface, endpoint.remote),
                                             log.clock.job_ns(endpoint.connected_tick));
    if (found != nullptr) {
      endpoint.peer_process = found->peer.process;
      endpoint.peer_uid = found->peer.uid;
      endpoint.remote_device = found->device;
    }
  }

  Job& job_;
  Directory<std::string, RemoteInterface> interfaces_, endpoints_;
};

struct ProcessOf {
  ProcessIndex process;
  bool operator==(const ProcessOf&) const = default;
};

// The peers of UCP's endpoints, and of its operations by them.
class UcpPeers {
 public:
  explicit UcpPeers(Job& job)
      : job_(job), places_(job.ucp.size()), destinations_(job.logs.size()) {}

  void link() {
    close_endpoints();
    link_by_worker_address();
    link_connections(job_);
    each_operation([&](UcpIndex i) { find_endpoint(i); });
    link_by_transfers();
    each_operation([&](UcpIndex i) { tell(job_.ucp[i], places_[i]); });
  }

 private:
  // An endpoint of a process: its row, or only its handle if UCP itself made it (for a reply to an
  // active message) or its definition is lost.
  struct Place {
    IndexOf<UcpEndpoint> row;
    std::uint64_t handle = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Destination {
    Peer peer;
    bool several = false;
  };

  ProcessLog& log_of(ProcessIndex process) { return job_.logs[process]; }

  template <typename Body>
  void each_operation(Body body) {
    each_process_of(job_, job_.ucp.size(), &ProcessLog::ucp_rows,
                    [&](std::size_t begin, std::size_t end) {
                      for (const UcpIndex i : Indexes<UcpOp>(begin, end)) body(i);
                    });
  }

  // The program releases a handle when it closes the endpoint.
  void close_endpoints() {
    each_operation([&](UcpIndex i) {
      const UcpOp& op = job_.ucp[i];
      if (op.function < log::UcpFunction::ep_close_nb ||
          op.function > log::UcpFunction::ep_destroy) {
        return;
      }
      Rows<UcpEndpoint>& rows = log_of(op.process).ucp_endpoints;
      if (const auto at = row_at(rows, op.handle, op.start_tick); at != kNone) {
        UcpEndpoint& row = rows[at];
        row.end_tick = std::min(row.end_tick, op.start_tick);
      }
    });
  }

  void link_by_worker_address() {
    Directory<std::uint64_t, ProcessOf> workers;
    for (const ProcessIndex process : job_.logs.indexes()) {
      for (const Worker& worker : job_.logs[process].workers) {
        if (worker.uid != 0) {
          workers.add(worker.uid, life_of(job_.logs[process], worker.tick, worker.end_tick),
                      {process});
        }
      }
    }
    for (ProcessLog& log : job_.logs) {
      for (UcpEndpoint& endpoint : log.ucp_endpoints) {
        endpoint.peer.uid = endpoint.remote_uid;
        if (const ProcessOf* found =
                workers.find(endpoint.remote_uid, log.clock.job_ns(endpoint.tick))) {
          endpoint.peer.process = found->process;
          endpoint.peer_by = PeerBy::worker_address;
        }
      }
    }
  }

  void find_endpoint(UcpIndex i) {
    const UcpOp& op = job_.ucp[i];
    if (!op.has_endpoint()) {
      return;
    }
    Rows<UcpEndpoint>& rows = log_of(op.process).ucp_endpoints;
    const auto at = row_at(rows, op.handle, op.start_tick);
    const bool there = at != kNone && op.start_tick <= rows[at].end_tick;
    places_[i] = {there ? at : kNone, op.handle};
    if (there) {
      ++rows[at].operations;
    }
  }

  // Blocking calls make progress inside, which may post for any operation.
  static bool posts_for_others(log::UcpFunction function) {
    return log::family_of(function) == log::UcpFamily::flush || function == log::UcpFunction::put ||
           function == log::UcpFunction::get ||
           (function >= log::UcpFunction::atomic_add32 &&
            function <= log::UcpFunction::atomic_cswap64);
  }

  // The operation of a transfer, by its id; kNone: not certain.
  UcpIndex certain_origin(const UctOp& transfer) const {
    if (transfer.status < 0 || transfer.origin_kind != log::Origin::ucp ||
        transfer.endpoint_row == kNone) {
      return kNone;
    }
    const auto& ids = job_.logs[transfer.process].ucp_by_id;
    const auto found = ids.find(transfer.origin);
    if (found == ids.end()) {
      return kNone;
    }
    const UcpOp& op = job_.ucp[found->second];
    return op.has_endpoint() && !posts_for_others(op.function) ? found->second : kNone;
  }

  void link_by_transfers() {
    each_process_of(job_, job_.uct.size(), &ProcessLog::uct_rows,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i) learn_destination(job_.uct[i]);
                    });
    for (const ProcessIndex process : job_.logs.indexes()) {
      for (const auto& [place, destination] : destinations_[process]) {
        if (place.row == kNone || destination.several) {
          continue;
        }
        UcpEndpoint& endpoint = job_.logs[process].ucp_endpoints[place.row];
        if (endpoint.peer.process == kNone && endpoint.remote_uid == 0) {
          endpoint.peer = destination.peer;
          endpoint.peer_by = PeerBy::transfers;
        }
      }
    }
  }

  void learn_destination(const UctOp& transfer) {
    const UcpIndex operation = certain_origin(transfer);
    if (operation == kNone) {
      return;
    }
    const Endpoint& to = log_of(transfer.process).endpoints[transfer.endpoint_row];
    if (to.peer_process == kNone) {
      return;
    }
    const Peer peer{to.peer_process, to.peer_uid};
    const auto [place, fresh] =
        destinations_[transfer.process].try_emplace(places_[operation], Destination{peer});
    place->second.several |=
        place->second.peer.process != peer.process || place->second.peer.uid != peer.uid;
  }

  Peer peer_at(ProcessIndex process, const Place& place) {
    if (place.row != kNone) {
      return log_of(process).ucp_endpoints[place.row].peer;
    }
    const auto& known = destinations_[process];
    const auto found = known.find(place);
    return found == known.end() || found->second.several ? Peer{} : found->second.peer;
  }

  void tell(UcpOp& op, const Place& place) {
    if (op.has_endpoint()) {
      const Peer peer = peer_at(op.process, place);
      op.peer_uid = peer.uid;
      op.peer_process = peer.process;
      return;
    }
    ProcessLog& log = log_of(op.process);
    if (const auto at = log.worker_at(op.handle, op.start_tick); at != kNone) {
      op.worker_uid = log.workers[at].uid;
      ++log.workers[at].operations;
    }
  }

  Job& job_;
  ByIndex<UcpOp, Place> places_;
  ByIndex<ProcessLog, std::map<Place, Destination>> destinations_;
};

}  // namespace

ProcessIndex peer_of(const Job& job, const UctOp& op) {
  const auto& endpoints = job.logs[op.process].endpoints;
  return op.endpoint_row == kNone ? kNone : endpoints[op.endpoint_row].peer_process;
}

void link_peers(Job& job) {
  UctPeers(job).link();
  UcpPeers(job).link();
}

}  // namespace uctrace::merge
