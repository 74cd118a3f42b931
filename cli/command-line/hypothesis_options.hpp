// Hypotheses of `uctrace simulate` as users write them. Each throws Error for text that it cannot
// parse.
#pragma once

#include <string>

#include "log-merger/simulate/hypotheses.hpp"

namespace uctrace::cli {

// WHAT[@RANK,RANK]=FACTOR: MPI_Send=2, compute@1=1.5.
Faster parse_faster(const std::string& text);

// run, phases, or ranks with commas between them; fills `balance` and `balanced_ranks`.
void parse_balance(const std::string& text, Hypotheses& hypotheses);

// TRANSPORT=latency:TIME,bandwidth:SIZE, the latter per second: tcp=latency:2us,bandwidth:10G.
NetworkChange parse_network(const std::string& text);

}  // namespace uctrace::cli
