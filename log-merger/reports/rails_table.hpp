// What each network card carried, as a table of `uctrace report`: what its port counted, what of it
// was recorded, and how evenly the cards of a host were used.
#pragma once

#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/model/network_cards.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

// As the run keeps them.
std::vector<NetworkCard> network_cards_of(const Run& run);

// Whether anything recorded left a host, or may have.
bool leaves_hosts(const std::vector<NetworkCard>& cards);

Table rails_table(const std::vector<NetworkCard>& cards);

// What a person sees of it: cards that UCX opened, or that carried something.
Table rails_text(const std::vector<NetworkCard>& cards);

// What the numbers do not say by themselves, a line each: cards of which the counts are not known
// or bounds, and what was recorded beyond what a port counted.
std::vector<std::string> rail_remarks(const std::vector<NetworkCard>& cards);

}  // namespace uctrace
