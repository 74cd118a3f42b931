#include "log-merger/rails/port_check.hpp"

#include <algorithm>
#include <set>

#include "log-merger/rails/card_readings.hpp"

namespace uctrace::merge {
namespace {

constexpr const char* kLoopback = "lo";  // nothing of it leaves a machine
constexpr std::uint64_t kAnyNetwork = 0;

// Of InfiniBand cards that are used as one, a port counts what goes by itself. Known by the name
// alone.
bool is_one_of_several(const std::string& device) {
  return device.find("bond") != std::string::npos;
}

// Adds a card to those that are counted together.
void add(PortGroup& group, const NetworkCard& card, bool exact) {
  const bool is_first = group.from_ns < 0;
  group.from_ns = std::max(group.from_ns, card.t_from_ns);
  group.to_ns = is_first ? card.t_to_ns : std::min(group.to_ns, card.t_to_ns);
  group.sent.counted += card.counted_sent_bytes;
  group.received.counted += card.counted_received_bytes;
  group.sent.exact = group.received.exact = exact && (is_first || group.sent.exact);
}

// Counters that all stand still may be of a port that does not count.
void doubt_if_still(PortGroup& group) {
  if (group.sent.counted + group.received.counted == 0) {
    group.sent.exact = group.received.exact = false;
  }
}

// Of each machine the cards of each of its networks. InfiniBand's are those of the machine.
using Readings = std::map<std::string, std::map<std::uint64_t, HostReadings>>;

Readings readings_of(const Job& job, const Hosts& hosts) {
  Readings machines;
  each_network_text(job, [&](ProcessIndex process, NetworkText text) {
    const std::optional<CardReading> reading = parse_card_reading(text);
    if (!reading) return;
    if (reading->kind == CardKind::infiniband) text.network = kAnyNetwork;
    machines[hosts.of(process).boot_id][text.network].add(text);
  });
  return machines;
}

// Machines of which all is known that left them: on each of their hosts one has read at both ends,
// and no process is in a container of its own, which may have cards that nobody read.
std::set<std::string> whole_machines(const Job& job, const Hosts& hosts) {
  std::set<std::string> whole, not_whole;
  for (const auto& [host, readings] : host_readings(job, hosts)) {
    const bool read = readings.any() && readings.has_end() && readings.remarks().empty();
    (read ? whole : not_whole).insert(host.boot_id);
  }
  std::map<Host, std::uint64_t> pid_namespaces;
  for (const ProcessIndex process : job.logs.indexes()) {
    const std::uint64_t own = job.logs[process].file.page().pid_namespace;
    const Host& host = hosts.of(process);
    if (pid_namespaces.try_emplace(host, own).first->second != own) not_whole.insert(host.boot_id);
  }
  for (const std::string& boot_id : not_whole) whole.erase(boot_id);
  return whole;
}

}  // namespace

PortCheck check_flows(const std::vector<PortFlow>& flows) {
  PortCheck check;
  for (const PortFlow& flow : flows) {
    check.passed += flow.passed;
    check.covered += std::min(flow.passed, flow.counted);
    if (flow.counted < flow.passed) (flow.exact ? check.violated : check.unclear) = true;
  }
  return check;
}

Ports::Ports(const Job& job) {
  const Hosts hosts(job);
  const std::set<std::string> whole = whole_machines(job, hosts);
  for (const auto& [boot_id, networks] : readings_of(job, hosts)) {
    if (boot_id.empty()) continue;  // of machines that cannot be told apart
    std::vector<Cards> cards;
    for (const auto& [network, readings] : networks) cards.push_back(readings.cards());
    add_machine(boot_id, cards, whole.contains(boot_id));
  }
}

void Ports::add_machine(const std::string& boot_id, const std::vector<Cards>& networks,
                        bool whole) {
  const Key together{boot_id, ""};
  bool all_are_exact = whole;
  for (const Cards& cards : networks) {
    for (const auto& [device, card] : cards) {
      if (device == kLoopback) continue;
      const bool exact = card.counted == Counted::exact;
      const bool alone = card.kind == CardKind::infiniband;
      if (!alone) all_are_exact &= exact;
      if (!is_counted(card.counted) || card.t_from_ns < 0) continue;
      const Key own = alone ? Key{boot_id, device} : together;
      group_of_[{boot_id, device}] = own;
      add(groups_[own], card, exact && !(alone && is_one_of_several(device)));
    }
  }
  const auto ordinary = groups_.find(together);
  if (ordinary != groups_.end() && !all_are_exact) {
    ordinary->second.sent.exact = ordinary->second.received.exact = false;
  }
  for (auto& [key, group] : groups_) {
    if (key.first == boot_id) doubt_if_still(group);
  }
}

PortGroup* Ports::group(const std::string& boot_id, const std::string& device) {
  const auto key = group_of_.find({boot_id, device});
  return key == group_of_.end() ? nullptr : &groups_.at(key->second);
}

PortCheck Ports::check(PortFlow PortGroup::*way) const {
  std::vector<PortFlow> flows;
  for (const auto& [key, group] : groups_) flows.push_back(group.*way);
  return check_flows(flows);
}

}  // namespace uctrace::merge
