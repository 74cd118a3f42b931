#include "log-merger/audit/port_totals.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/audit/delivered.hpp"
#include "log-merger/rails/rails.hpp"

namespace uctrace::merge {

namespace {

// An instant by the clock of a process.
struct Moment {
  ProcessIndex process;
  std::int64_t ns = -1;
};

// By process; 0: its machine is not known.
using MachineNumbers = std::vector<std::size_t>;

MachineNumbers machines_of(const Job& job) {
  std::map<std::string_view, std::size_t> numbers{{"", 0}};
  MachineNumbers machines;
  for (const ProcessLog& log : job.logs) {
    machines.push_back(numbers.try_emplace(log.file.boot_id(), numbers.size()).first->second);
  }
  return machines;
}

bool are_several(const MachineNumbers& machines) {
  std::size_t first = 0;
  for (const std::size_t machine : machines) {
    if (first == 0) first = machine;
    if (machine != 0 && machine != first) return true;
  }
  return false;
}

class PortTotals {
 public:
  PortTotals(const Job& job, MachineNumbers machines, Ports& ports)
      : job_(job), machines_(std::move(machines)), ports_(ports), routes_(job.logs.size()) {}

  void count() {
    for (const UcpOp& send : job_.ucp) {
      if (send.starts_message() && send.message != kNone) add_message(send);
    }
  }

 private:
  // The ports that an endpoint's operations use; nullptr: none with known counts.
  struct Route {
    bool known = false;
    ProcessIndex peer;
    PortGroup *own = nullptr, *far = nullptr;
  };

  // When and where the data arrived. Data of puts may still be on its way at their completion:
  // nothing tells its arrival.
  std::optional<Moment> came_whole(const UcpOp& send) const {
    const Message& message = job_.run.messages[send.message.place()];
    // A pair that may be wrong proves nothing about either end.
    if (message.match == Match::ambiguous || !delivered(job_, message, send)) return std::nullopt;
    if (send.is_one_sided()) return Moment{send.process, message.t_end_ns};
    const UcpOp& receive = job_.ucp[send.partner];
    return Moment{receive.process, receive.taken_ns()};
  }

  void add_message(const UcpOp& send) {
    const std::optional<Moment> whole = came_whole(send);
    if (!whole || whole->ns < 0) return;
    for (const UctIndex i : job_.operations_of.of(send.message)) {
      const UctOp& op = job_.uct[i];
      if (op.failed() || op.bytes == 0 || role_of(op) != Role::data) continue;
      if (send.is_one_sided() && !brings_data(op)) continue;
      add(op, *whole);
    }
  }

  void add(const UctOp& op, const Moment& whole) {
    if (op.endpoint_row == kNone) return;
    const Route& route = route_of(op);
    const bool fetched = brings_data(op);
    if (route.own != nullptr) add_end(*route.own, op.process, !fetched, op, whole);
    if (route.far != nullptr) add_end(*route.far, route.peer, fetched, op, whole);
  }

  const Route& route_of(const UctOp& op) {
    std::vector<Route>& routes = routes_[op.process.place()];
    const std::size_t row = op.endpoint_row.place();
    if (routes.size() <= row) routes.resize(row + 1);
    if (!routes[row].known) routes[row] = find_route(op);
    return routes[row];
  }

  Route find_route(const UctOp& op) {
    Route route;
    route.known = true;
    route.peer = peer_of(job_, op);
    if (route.peer == kNone || !are_apart(op.process, route.peer)) return route;
    const ProcessLog& log = job_.logs[op.process];
    const Interface* interface = log.interface(op.interface);
    if (interface == nullptr || interface->device_type != log::DeviceType::network) return route;
    route.own = group(op.process, interface->device);
    route.far = group(route.peer, log.endpoints[op.endpoint_row].remote_device);
    return route;
  }

  // On two machines for certain.
  bool are_apart(ProcessIndex a, ProcessIndex b) const {
    const std::size_t of_a = machines_[a.place()], of_b = machines_[b.place()];
    return of_a != 0 && of_b != 0 && of_a != of_b;
  }

  PortGroup* group(ProcessIndex process, TextId device) {
    if (device == kNoText) return nullptr;
    return ports_.group(std::string(job_.logs[process].file.boot_id()), job_.run.texts[device]);
  }

  void add_end(PortGroup& group, ProcessIndex process, bool sends, const UctOp& op,
               const Moment& whole) const {
    if (!is_before({process, group.from_ns}, {op.process, op.start_ns}) ||
        !is_before(whole, {process, group.to_ns})) {
      return;
    }
    PortFlow& flow = sends ? group.sent : group.received;
    flow.passed += op.bytes;
    if (!is_before(whole, {process, group.to_ns - kCounterLagNs})) flow.late += op.bytes;
  }

  // For certain, by the clocks of both.
  bool is_before(const Moment& a, const Moment& b) const {
    const auto margin = clock_margin_ns(job_, a.process, a.ns, b.process, b.ns);
    return margin && a.ns + *margin <= b.ns;
  }

  const Job& job_;
  const MachineNumbers machines_;
  Ports& ports_;
  std::vector<std::vector<Route>> routes_;  // by process and endpoint
};

}  // namespace

void add_passed(const Job& job, Ports& ports) {
  if (!ports.empty()) PortTotals(job, machines_of(job), ports).count();
}

PortChecks check_ports(const Job& job) {
  if (!are_several(machines_of(job))) return {};
  Ports ports(job);
  add_passed(job, ports);
  return {ports.sent(), ports.received()};
}

}  // namespace uctrace::merge
