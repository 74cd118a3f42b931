// The host, by its own name, and the machine of a process. Private to log-merger/.
//
// A machine is identified by its boot id. It may have several hosts (containers), and hosts of
// several machines may have the same name. If the boot id is empty, the machine is not known; some
// containers (LXC, systemd-nspawn) make up their own.
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
  // Its name and, if machines share that, the beginning of its boot id.
  std::string label(const Host& host) const;

 private:
  std::vector<Host> of_;                                   // by process
  std::map<std::string, std::set<std::string>> boot_ids_;  // by name
};

}  // namespace uctrace::merge
