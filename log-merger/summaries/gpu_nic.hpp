// GPUs and network cards: the data sent and received between each memory of a host and each of its
// cards.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Run::gpu_nic over the messages and hops that the filter chooses. Rows of a GPU and a card exist
// even without traffic. The outgoing bytes of all rows equal the payload of hops over a network; so
// do the incoming ones. Staged bytes, which this side copied in or out of the GPU, are counted
// twice: at the memory that the card accessed, and separately at the GPU.
std::vector<GpuNic> gpu_nic_totals(const RowSource& source, const Filter& filter);

namespace merge {

// Adds the traffic to Run::gpu_nic, which already has the pairs of GPUs and cards with their
// distances.
void lay_out_gpu_nic(Run& run);

}  // namespace merge
}  // namespace uctrace
