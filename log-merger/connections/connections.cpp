#include "log-merger/connections/connections.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/connections/estimates.hpp"
#include "log-merger/connections/ucp_endpoints.hpp"
#include "log-merger/model/durations.hpp"
#include "log-merger/model/ucs_names.hpp"

namespace uctrace::merge {

namespace {

// The sums of an endpoint's operations.
struct Use {
  std::uint64_t operations = 0, message_operations = 0, wireup_operations = 0, payload_bytes = 0;
  std::uint64_t carried = 0;  // bits 1 << log::UctOp of those with payload
  std::int64_t first_ns = -1;
  MessageIndex first_message;

  void add(const Job& job, const UctOp& op) {
    ++operations;
    wireup_operations += op.link == Link::reason && std::string_view(op.reason) == "wireup";
    if (op.serves == kNone) return;
    const MessageIndex message = job.ucp[op.serves].message;
    if (message == kNone) return;
    ++message_operations;
    const std::uint64_t payload = uctrace::merge::payload_bytes(op);
    payload_bytes += payload;
    if (payload != 0) carried |= std::uint64_t{1} << static_cast<unsigned>(op.op);
    if (first_ns < 0 || op.start_ns < first_ns) {
      first_ns = op.start_ns;
      first_message = message;
    }
  }
};

class ConnectionsOfProcess {
 public:
  ConnectionsOfProcess(Job& job, ProcessIndex process, const UcpEndpoints& ucp_endpoints)
      : job_(job), process_(process), log_(job.logs[process]), ucp_endpoints_(ucp_endpoints) {}

  void count() {
    uses_.resize(log_.endpoints.size());
    for (std::size_t i = log_.uct_rows.begin; i < log_.uct_rows.end; ++i) {
      const UctOp& op = job_.uct[i];
      if (op.endpoint_row != kNone && op.status >= 0) uses_[op.endpoint_row].add(job_, op);
    }
  }

  void add() {
    for (const EndpointIndex i : log_.endpoints.indexes()) {
      job_.run.connections.push_back(row_of(log_.endpoints[i], uses_[i]));
    }
  }

 private:
  std::int64_t time(std::uint64_t tick) const { return log_.clock.job_ns(tick); }

  ConnectionRow row_of(const Endpoint& endpoint, const Use& use) {
    ConnectionRow row;
    row.process = static_cast<std::uint32_t>(process_.number());
    row.peer_process = endpoint.peer_process.number();
    if (const Interface* interface = log_.interface(endpoint.interface)) {
      row.transport = interface->transport;
      row.device = interface->device;
      row.network = interface->device_type == log::DeviceType::network;
      add_maker(*interface, endpoint, row);
    }
    row.remote_device = endpoint.remote_device;
    row.operations = use.operations;
    row.message_operations = use.message_operations;
    row.wireup_operations = use.wireup_operations;
    row.payload_bytes = use.payload_bytes;
    row.carried = job_.run.texts.intern(names_of(use.carried));
    row.t_created_ns = time(endpoint.tick);
    row.t_connected_ns = endpoint.connected_tick != 0 ? time(endpoint.connected_tick) : -1;
    row.t_first_use_ns = use.first_ns;
    row.t_closed_ns = endpoint.destroyed_tick != UINT64_MAX ? time(endpoint.destroyed_tick) : -1;
    row.first_message = use.first_message.number();
    if (row.first_message >= 0) row.waited_ns = waited(row);
    return row;
  }

  void add_maker(const Interface& interface, const Endpoint& endpoint, ConnectionRow& row) const {
    if (!interface.of_ucp) return;
    row.made_by = MadeBy::wireup;
    const UcpEndpoint* with = ucp_endpoints_.made_at(interface.worker, endpoint.tick);
    if (with == nullptr) return;
    row.made_by = MadeBy::ucp_endpoint;
    row.ucp_endpoint = with->handle;
    row.creation_ns = duration_ns(time(with->begin_tick), time(with->tick));
  }

  // Only for requests to this process itself can its own clock say that they came before.
  std::int64_t waited(const ConnectionRow& row) const {
    const Message& message = job_.run.messages[static_cast<std::size_t>(row.first_message)];
    const std::int32_t asker =
        message.initiator == Side::src ? message.src_process : message.dst_process;
    const std::int64_t ready_ns = std::max(row.t_created_ns, row.t_connected_ns);
    if (asker != process_.number() || message.t_start_ns < 0 || ready_ns > row.t_first_use_ns) {
      return 0;
    }
    return duration_ns(message.t_start_ns, ready_ns);
  }

  static std::string names_of(std::uint64_t operations) {
    std::string names;
    for (unsigned i = 0; i < static_cast<unsigned>(log::UctOp::kCount); ++i) {
      if ((operations >> i & 1) == 0) continue;
      names += names.empty() ? "" : ", ";
      names += uct_op_name(static_cast<log::UctOp>(i));
    }
    return names;
  }

  Job& job_;
  ProcessIndex process_;
  ProcessLog& log_;
  const UcpEndpoints& ucp_endpoints_;
  ByIndex<Endpoint, Use> uses_;
};

// Messages are by their start.
void mark_first_messages(Run& run) {
  std::unordered_set<std::uint64_t> met;  // source << 32 | destination
  for (Message& message : run.messages) {
    if (message.src_process < 0 || message.dst_process < 0) continue;
    const auto src = static_cast<std::uint64_t>(message.src_process);
    message.first = met.insert(src << 32 | static_cast<std::uint32_t>(message.dst_process)).second;
  }
}

}  // namespace

void add_connections(Job& job) {
  const std::vector<UcpEndpoints> ucp_endpoints = ucp_endpoints_of(job);
  std::vector<ConnectionsOfProcess> processes;
  processes.reserve(job.logs.size());
  for (const ProcessIndex process : job.logs.indexes()) {
    processes.emplace_back(job, process, ucp_endpoints[process.place()]);
  }
  job.workers.each(processes.size(), [&](std::size_t i) { processes[i].count(); });
  for (ConnectionsOfProcess& process : processes) process.add();
  Run& run = job.run;
  std::stable_sort(run.connections.begin(), run.connections.end(),
                   [](const ConnectionRow& a, const ConnectionRow& b) {
                     return std::tie(a.first_message, a.process, a.t_created_ns) <
                            std::tie(b.first_message, b.process, b.t_created_ns);
                   });
  for (const ConnectionRow& row : run.connections) {
    if (row.waited_ns == 0) continue;
    Message& message = run.messages[static_cast<std::size_t>(row.first_message)];
    message.connection_ns = std::max(message.connection_ns, row.waited_ns);
  }
  mark_first_messages(run);
  add_estimates(job, ucp_endpoints);
}

}  // namespace uctrace::merge
