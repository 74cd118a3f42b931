// Which host, as it names itself, and which machine a process was on. Private to log-merger/.
//
// A machine is told by its boot id. It may have several hosts, as containers are; and hosts of
// several machines may have the same name. Where the boot id is empty the machine is not known;
// and containers may have one each that they made up (LXC, systemd-nspawn).
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct Host {
  std::string name;  // plain text
  std::string boot_id;
  auto operator<=>(const Host&) const = default;
};

class Hosts {
 public:
  explicit Hosts(const Job& job);

  const Host& of(ProcessIndex process) const { return of_[process.place()]; }
  // Its name, and where machines share that, the beginning of its boot id.
  std::string label(const Host& host) const;

 private:
  std::vector<Host> of_;                                   // by process
  std::map<std::string, std::set<std::string>> boot_ids_;  // by name
};

}  // namespace uctrace::merge
