// GPUs and network cards: how much data went from which memory of a host out over which of its
// cards, and came in over it.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Run::gpu_nic over the messages and hops that the filter chooses. Rows of a GPU and a card stay
// where nothing moved. The bytes that go out, over all rows, are the payload of the hops over a
// network that carry data; so are those that come in. Bytes that are staged are counted twice:
// where the card took them, or brought them to, and apart from these at the GPU. They are those of
// a message that this side copied in or out of the GPU.
std::vector<GpuNic> gpu_nic_totals(const RowSource& source, const Filter& filter);

namespace merge {

// Adds what moved to Run::gpu_nic, which has the pairs of GPUs and cards with their distances.
void lay_out_gpu_nic(Run& run);

}  // namespace merge
}  // namespace uctrace
