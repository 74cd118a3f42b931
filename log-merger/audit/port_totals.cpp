#include "log-merger/audit/port_totals.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/audit/delivered.hpp"
#include "log-merger/rails/rails.hpp"

namespace uctrace::merge {

namespace {

// A time of a process.
struct Moment {
  ProcessIndex process;
  std::int64_t ns = -1;
};

class PortTotals {
 public:
  explicit PortTotals(const Job& job) : job_(job), ports_(job) {
    for (const ProcessLog& log : job.logs) boot_ids_.emplace_back(log.file.boot_id());
  }

  PortChecks count() {
    for (const UcpOp& send : job_.ucp) {
      if (send.starts_message() && send.message != kNone) add_message(send);
    }
    return {ports_.sent(), ports_.received()};
  }

 private:
  // When, and where. What puts wrote may be on its way when they end: nobody tells that it came.
  std::optional<Moment> came_whole(const UcpOp& send) const {
    const Message& message = job_.run.messages[send.message.place()];
    if (!delivered(job_, message, send)) return std::nullopt;
    if (send.is_one_sided()) return Moment{send.process, message.t_end_ns};
    const UcpOp& receive = job_.ucp[send.partner];
    return Moment{receive.process, receive.taken_ns()};
  }

  void add_message(const UcpOp& send) {
    const std::optional<Moment> whole = came_whole(send);
    if (!whole || whole->ns < 0) return;
    for (const UctIndex i : job_.operations_of.of(send.message)) {
      const UctOp& op = job_.uct[i];
      if (op.failed() || op.staging || op.bytes == 0 || role_of(op) != Role::data) continue;
      if (send.is_one_sided() && !brings_data(op)) continue;
      add(op, *whole);
    }
  }

  void add(const UctOp& op, const Moment& whole) {
    const ProcessIndex peer = peer_of(job_, op);
    if (peer == kNone || boot_id(peer) == boot_id(op.process)) return;
    const ProcessLog& log = job_.logs[op.process];
    const Interface* interface = log.interface(op.interface);
    if (interface == nullptr || interface->device_type != log::DeviceType::network) return;
    const bool fetched = brings_data(op);
    add_end({op.process, interface->device, !fetched}, op, whole);
    add_end({peer, log.endpoints[op.endpoint_row].remote_device, fetched}, op, whole);
  }

  struct End {
    ProcessIndex process;
    TextId device = kNoText;
    bool sends = false;
  };

  void add_end(const End& end, const UctOp& op, const Moment& whole) {
    if (end.device == kNoText) return;
    PortGroup* group = ports_.group(boot_id(end.process), job_.run.texts[end.device]);
    if (group == nullptr) return;
    if (!is_before({end.process, group->from_ns}, {op.process, op.start_ns}) ||
        !is_before(whole, {end.process, group->to_ns})) {
      return;
    }
    (end.sends ? group->sent : group->received).passed += op.bytes;
  }

  // For certain, by the clocks of both.
  bool is_before(const Moment& a, const Moment& b) const {
    const auto margin = clock_margin_ns(job_, a.process, a.ns, b.process, b.ns);
    return margin && a.ns + *margin <= b.ns;
  }

  const std::string& boot_id(ProcessIndex process) const { return boot_ids_[process.place()]; }

  const Job& job_;
  Ports ports_;
  std::vector<std::string> boot_ids_;  // by process
};

bool has_several_machines(const Job& job) {
  std::set<std::string_view> boot_ids;
  for (const ProcessLog& log : job.logs) boot_ids.insert(log.file.boot_id());
  return boot_ids.size() > 1;
}

}  // namespace

PortChecks check_ports(const Job& job) {
  return has_several_machines(job) ? PortTotals(job).count() : PortChecks{};
}

}  // namespace uctrace::merge
