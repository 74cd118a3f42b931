// Whether ports counted at least what is proven to have passed them. Private to log-merger/.
//
// Ports are checked in groups whose counters are added up: a port of InfiniBand by itself, and all
// ordinary network cards of a machine, since a card may stand for others (bridges, bonds).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/model/network_cards.hpp"

namespace uctrace::merge {

// Some drivers (bnxt_en, bnx2x, tg3) write the counters of a card about once a second: what passed
// later than this before a reading may not be in it.
inline constexpr std::int64_t kCounterLagNs = 2'000'000'000;

// What one group counted one way, and what of the records passed it meanwhile, by proof. Bytes.
struct PortFlow {
  std::uint64_t counted = 0, passed = 0;
  std::uint64_t late = 0;      // of `passed`: within kCounterLagNs before the last reading
  std::uint64_t loopback = 0;  // that went inside the machine, or what seems one
  bool exact = false;          // else more may have passed than was counted
  bool ordinary = false;       // network cards, which some libraries use behind the kernel's back
};

// It counted less than passed, and nothing explains that.
bool is_violated(const PortFlow& flow);

struct PortCheck {
  std::uint64_t passed = 0, covered = 0;  // bytes; of all groups: by the records, by the counters
  // Less was counted than passed: by ports that count all, and by others.
  bool violated = false, unclear = false;

  bool any() const { return passed != 0; }
};

PortCheck check_flows(const std::vector<PortFlow>& flows);

struct PortGroup {
  std::int64_t from_ns = -1, to_ns = -1;  // between the readings of all its ports
  PortFlow sent, received;
};

// The groups of each machine of which anything was counted.
class Ports {
 public:
  explicit Ports(const Job& job);
  // From cards by their names.
  using Cards = std::map<std::string, NetworkCard>;
  // `whole`: of all networks of the machine somebody read at both ends. Public for tests.
  void add_machine(const std::string& boot_id, const std::vector<Cards>& networks, bool whole);
  Ports() = default;

  bool empty() const { return groups_.empty(); }
  // nullptr: what the card counted is not known. The group stays where it is.
  PortGroup* group(const std::string& boot_id, const std::string& device);
  PortCheck sent() const { return check(&PortGroup::sent); }
  PortCheck received() const { return check(&PortGroup::received); }

 private:
  using Key = std::pair<std::string, std::string>;  // boot id and port; "" for all ordinary cards

  void doubt(const std::string& boot_id, const std::string& device);
  PortCheck check(PortFlow PortGroup::*way) const;

  std::map<Key, Key> group_of_;  // by boot id and card
  std::map<Key, PortGroup> groups_;
};

}  // namespace uctrace::merge
