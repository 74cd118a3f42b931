// What of the records is proven to have passed the ports of network cards between the readings of
// their counters, beside these. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"
#include "log-merger/rails/port_check.hpp"

namespace uctrace::merge {

struct PortChecks {
  PortCheck sent, received;
};

// While the job has the operations of its messages. Only what went from one machine to another one.
PortChecks check_ports(const Job& job);

// Adds to the groups what passed them by proof. Public for tests.
void add_passed(const Job& job, Ports& ports);

}  // namespace uctrace::merge
