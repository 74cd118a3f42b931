#include "log-merger/summaries/gpu_nic.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "log-merger/summaries/legs.hpp"
#include "log-merger/summaries/memory_output.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {
namespace {

// A GPU and a card of one host, which have a distance.
bool is_pair(const Run& run, const GpuNic& row) {
  return row.memory == MemoryKind::gpu && row.gpu >= 0 && row.nic >= 0 &&
         run.gpus[static_cast<std::size_t>(row.gpu)].host ==
             run.nics[static_cast<std::size_t>(row.nic)].host;
}

bool goes_over_network(std::span<const Hop> path) {
  return std::any_of(path.begin(), path.end(), [](const Hop& hop) { return hop.network; });
}

// Whether that side copied data of the message between a GPU and the host. Without a copy, host
// memory there holds other parts, such as a header.
bool copies_at(std::span<const Hop> path, Side side) {
  return std::any_of(path.begin(), path.end(), [side](const Hop& hop) {
    return hop.role == Role::staging && hop.issued_by == side;
  });
}

// Rows by where they stand in the table.
class Rows {
 public:
  explicit Rows(const Run& run) : run_(run) {
    for (std::size_t i = 0; i < run.nics.size(); ++i) {
      nics_[{run.nics[i].host, run.nics[i].device}] = static_cast<std::int32_t>(i);
    }
    for (const GpuNic& row : run.gpu_nic) {
      if (!is_pair(run, row)) continue;
      GpuNic& pair = row_of(row.host, row.place(), row.nic);
      pair.distance = row.distance;
      pair.numa_distance = row.numa_distance;
    }
  }

  void add(const Message& message, std::span<const Hop> path, const Leg& leg) {
    const bool out = leg.to.kind == Stop::Kind::network_card;
    const Stop &memory = out ? leg.from : leg.to, &card = out ? leg.to : leg.from;
    if (memory.kind == card.kind) return;  // between cards, or within memory
    GpuNic& row = row_of(memory.host, memory.place, nic_of(card));
    const Hop& hop = path[leg.hop];
    (out ? row.out_operations : row.in_operations) += hop.count;
    (out ? row.out_bytes : row.in_bytes) += hop.payload_bytes;
    const MemoryPlace end = out ? message.src_place() : message.dst_place();
    if (is_device_memory(end) && memory.place == kHostPlace &&
        copies_at(path, out ? Side::src : Side::dst)) {
      GpuNic& of_gpu = row_of(memory.host, end, row.nic);
      (out ? of_gpu.out_staged_bytes : of_gpu.in_staged_bytes) += hop.payload_bytes;
    }
  }

  std::vector<GpuNic> take() {
    std::vector<GpuNic> table;
    for (auto& [place, row] : rows_) {
      // Managed memory counts as being at its GPU, if known.
      const auto pair = rows_.find(Place{place.host, {MemoryKind::gpu, row.gpu}, row.nic});
      if (pair != rows_.end() && is_pair(run_, pair->second)) {
        row.distance = pair->second.distance;
        row.numa_distance = pair->second.numa_distance;
      }
      table.push_back(row);
    }
    return table;
  }

 private:
  std::int32_t nic_of(const Stop& card) const {
    const auto found = nics_.find({card.host, card.device});
    return found == nics_.end() ? -1 : found->second;
  }

  GpuNic& row_of(TextId host, MemoryPlace place, std::int32_t nic) {
    GpuNic& row = rows_[Place{run_.texts[host], place, nic}];
    row.host = host;
    row.memory = place.kind;
    row.gpu = place.gpu;
    row.nic = nic;
    return row;
  }

  struct Place {
    std::string host;
    MemoryPlace memory;
    std::int32_t nic;
    auto operator<=>(const Place&) const = default;
  };
  const Run& run_;
  std::map<std::pair<TextId, TextId>, std::int32_t> nics_;  // by host and device
  std::map<Place, GpuNic> rows_;
};

}  // namespace

std::vector<GpuNic> gpu_nic_totals(const RowSource& source, const Filter& filter) {
  using M = Message;
  const Run& run = source.run();
  Rows rows(run);
  const Wanted<M> wanted{&M::src_process, &M::dst_process, &M::src_memory,
                         &M::src_gpu,     &M::dst_memory,  &M::dst_gpu};
  const Wanted<Hop> of_path{&Hop::role,     &Hop::issued_by,     &Hop::network,
                            &Hop::device,   &Hop::remote_device, &Hop::from_memory,
                            &Hop::from_gpu, &Hop::to_memory,     &Hop::to_gpu,
                            &Hop::count,    &Hop::payload_bytes};
  for_each_traffic(source, filter, wanted, of_path, [&](const Traffic& traffic) {
    if (!goes_over_network(traffic.path)) return;
    for (const Leg& leg : legs_of(run, traffic.like, traffic.path)) {
      const Hop& hop = traffic.path[leg.hop];
      if (hop.network && filter.accepts(hop)) rows.add(traffic.like, traffic.path, leg);
    }
  });
  return rows.take();
}

namespace merge {

void lay_out_gpu_nic(Run& run) { run.gpu_nic = gpu_nic_totals(run, Filter(run, {})); }

}  // namespace merge
}  // namespace uctrace
