#include "log-merger/rails/port_check.hpp"

#include <algorithm>
#include <set>

#include "log-merger/rails/card_readings.hpp"

namespace uctrace::merge {
namespace {

constexpr const char* kLoopback = "lo";  // nothing of it leaves a machine
// If ordinary cards counted no more than this part, most traffic went through a library that
// bypasses the kernel (Onload, libvma, SMC-R).
constexpr std::uint64_t kLeastPart = 10;
constexpr std::uint64_t kAnyNetwork = 0;

// If InfiniBand cards are bonded, each port counts only its own traffic. A bond is known only by
// name: that of the port, or of the network card that represents it.
bool is_named_bond(const std::string& device) { return device.find("bond") != std::string::npos; }

bool any_bond(const std::vector<Ports::Cards>& networks) {
  return std::any_of(networks.begin(), networks.end(), [](const Ports::Cards& cards) {
    return std::any_of(cards.begin(), cards.end(),
                       [](const auto& card) { return is_named_bond(card.first); });
  });
}

// The traffic of a network between its own ends; nullopt: not known.
std::optional<std::uint64_t> loopback_bytes(const Ports::Cards& cards) {
  const auto loopback = cards.find(kLoopback);
  if (loopback != cards.end()) {
    const NetworkCard& card = loopback->second;
    if (card.counted != Counted::exact) return std::nullopt;
    return std::max(card.counted_sent_bytes, card.counted_received_bytes);
  }
  const bool is_network = std::any_of(cards.begin(), cards.end(), [](const auto& card) {
    return card.second.kind == CardKind::net;
  });
  return is_network ? std::nullopt : std::optional<std::uint64_t>(0);
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

void doubt_group(PortGroup& group) { group.sent.exact = group.received.exact = false; }

// If no counter changes, the port may not count at all.
void doubt_if_still(PortGroup& group) {
  if (group.sent.counted + group.received.counted == 0) doubt_group(group);
}

// For each machine the cards of each of its network namespaces. InfiniBand cards belong to the
// machine.
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

// Machines whose outgoing traffic is completely known: on each of their hosts a process read at
// both ends, and no process is in a separate container, which may have cards that nobody read.
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

// InfiniBand ports that may be the same one, seen from containers with their own boot ids: traffic
// between them may not be counted. By boot id and port.
std::set<std::pair<std::string, std::string>> shared_ports(const Readings& machines) {
  struct Seen {
    const std::string* boot_id;
    const CardReadings* readings;
  };
  std::map<std::string, std::vector<Seen>> by_device;
  for (const auto& [boot_id, networks] : machines) {
    const auto found = networks.find(kAnyNetwork);
    if (found == networks.end()) continue;
    for (const auto& [device, readings] : found->second.readings()) {
      by_device[device].push_back({&boot_id, &readings});
    }
  }
  std::set<std::pair<std::string, std::string>> shared;
  for (const auto& [device, all] : by_device) {
    for (const Seen& one : all) {
      const bool is_shared = std::any_of(all.begin(), all.end(), [&](const Seen& other) {
        return other.boot_id != one.boot_id && may_be_one(*one.readings, *other.readings);
      });
      if (is_shared) shared.emplace(*one.boot_id, device);
    }
  }
  return shared;
}

}  // namespace

bool is_violated(const PortFlow& flow) {
  if (!flow.exact || flow.counted >= flow.passed) return false;
  const std::uint64_t missing = flow.passed - flow.counted;
  if (missing <= flow.late || missing - flow.late <= flow.loopback) return false;
  return !flow.ordinary || flow.counted > flow.passed / kLeastPart;
}

PortCheck check_flows(const std::vector<PortFlow>& flows) {
  PortCheck check;
  for (const PortFlow& flow : flows) {
    check.passed += flow.passed;
    check.covered += std::min(flow.passed, flow.counted);
    if (flow.counted < flow.passed) (is_violated(flow) ? check.violated : check.unclear) = true;
  }
  return check;
}

Ports::Ports(const Job& job) {
  const Hosts hosts(job);
  const std::set<std::string> whole = whole_machines(job, hosts);
  const Readings machines = readings_of(job, hosts);
  for (const auto& [boot_id, networks] : machines) {
    if (boot_id.empty()) continue;  // from machines that cannot be distinguished
    std::vector<Cards> cards;
    for (const auto& [network, readings] : networks) cards.push_back(readings.cards());
    add_machine(boot_id, cards, whole.contains(boot_id));
  }
  for (const auto& [boot_id, device] : shared_ports(machines)) doubt(boot_id, device);
}

void Ports::add_machine(const std::string& boot_id, const std::vector<Cards>& networks,
                        bool whole) {
  const Key together{boot_id, ""};
  const bool has_bond = any_bond(networks);
  bool all_are_exact = whole;
  std::uint64_t loopback = 0;
  for (const Cards& cards : networks) {
    const std::optional<std::uint64_t> inside = loopback_bytes(cards);
    all_are_exact &= inside.has_value();
    loopback += inside.value_or(0);
    for (const auto& [device, card] : cards) {
      if (device == kLoopback) continue;
      const bool exact = card.counted == Counted::exact;
      const bool alone = card.kind == CardKind::infiniband;
      if (!alone) all_are_exact &= exact;
      if (!is_counted(card.counted) || card.t_from_ns < 0) continue;
      const Key own = alone ? Key{boot_id, device} : together;
      group_of_[{boot_id, device}] = own;
      add(groups_[own], card, exact && !(alone && has_bond));
    }
  }
  const auto ordinary = groups_.find(together);
  if (ordinary != groups_.end()) {
    if (!all_are_exact) doubt_group(ordinary->second);
    for (PortFlow PortGroup::*way : {&PortGroup::sent, &PortGroup::received}) {
      (ordinary->second.*way).loopback = loopback;
      (ordinary->second.*way).ordinary = true;
    }
  }
  for (auto& [key, group] : groups_) {
    if (key.first == boot_id) doubt_if_still(group);
  }
}

PortGroup* Ports::group(const std::string& boot_id, const std::string& device) {
  const auto key = group_of_.find({boot_id, device});
  return key == group_of_.end() ? nullptr : &groups_.at(key->second);
}

void Ports::doubt(const std::string& boot_id, const std::string& device) {
  if (PortGroup* found = group(boot_id, device)) doubt_group(*found);
}

PortCheck Ports::check(PortFlow PortGroup::*way) const {
  std::vector<PortFlow> flows;
  for (const auto& [key, group] : groups_) flows.push_back(group.*way);
  return check_flows(flows);
}

}  // namespace uctrace::merge
