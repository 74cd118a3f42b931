// Whether ports counted at least the bytes proven to have passed them. Private to log-merger/.
//
// Ports are checked in groups whose counters are added up: each InfiniBand port separately, and all
// ordinary network cards of a machine together, because a card may represent others (bridges,
// bonds).
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

// Some drivers (bnxt_en, bnx2x, tg3) write the counters of a card about once a second: bytes that
// passed within this time before a reading may be missing in it.
inline constexpr std::int64_t kCounterLagNs = 2'000'000'000;

// The bytes counted by one group in one direction, and the bytes proven by the records to have
// passed meanwhile.
struct PortFlow {
  std::uint64_t counted = 0, passed = 0;
  std::uint64_t late = 0;      // of `passed`: within kCounterLagNs before the last reading
  std::uint64_t loopback = 0;  // within the machine, or what seems to be one
  bool exact = false;          // otherwise more may have passed than was counted
  bool ordinary = false;       // network cards, which some libraries use past the kernel
};

// It counted less than passed, without an explanation.
bool is_violated(const PortFlow& flow);

struct PortCheck {
  std::uint64_t passed = 0, covered = 0;  // bytes of all groups: by the records, by the counters
  // Groups that counted less than passed: with exact ports, and with others.
  bool violated = false, unclear = false;

  bool any() const { return passed != 0; }
};

PortCheck check_flows(const std::vector<PortFlow>& flows);

struct PortGroup {
  std::int64_t from_ns = -1, to_ns = -1;  // between the readings of all its ports
  PortFlow sent, received;
};

// The groups of each machine with any counts.
class Ports {
 public:
  explicit Ports(const Job& job);
  // From cards by their names.
  using Cards = std::map<std::string, NetworkCard>;
  // `whole`: a process read at both ends in all networks of the machine. Public for tests.
  void add_machine(const std::string& boot_id, const std::vector<Cards>& networks, bool whole);
  Ports() = default;

  bool empty() const { return groups_.empty(); }
  // nullptr: the card's counts are not known. The pointer stays valid.
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
