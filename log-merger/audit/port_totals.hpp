// Bytes that the records prove to have passed the ports of network cards between the readings of
// their counters, compared with these counters. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"
#include "log-merger/rails/port_check.hpp"

namespace uctrace::merge {

struct PortChecks {
  PortCheck sent, received;
};

// Call it while the job has the operations of its messages. Only for traffic between machines.
PortChecks check_ports(const Job& job);

// Adds the proven bytes to the groups. Public for tests.
void add_passed(const Job& job, Ports& ports);

}  // namespace uctrace::merge
