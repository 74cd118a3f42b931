// The traffic of network cards as a table of `uctrace report`: the port's counts, the recorded
// part, and how evenly a host's cards were used.
#pragma once

#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/model/network_cards.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

// As the run keeps them.
std::vector<NetworkCard> network_cards_of(const Run& run);

// Whether recorded traffic left a host, or may have.
bool leaves_hosts(const std::vector<NetworkCard>& cards);

Table rails_table(const std::vector<NetworkCard>& cards);

// For a person: cards that UCX opened, or that carried something.
Table rails_text(const std::vector<NetworkCard>& cards);

// Remarks, a line each: cards whose counts are unknown or only bounds, and recorded traffic beyond
// a port's counts.
std::vector<std::string> rail_remarks(const std::vector<NetworkCard>& cards);

}  // namespace uctrace
