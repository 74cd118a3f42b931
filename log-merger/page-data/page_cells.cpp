#include "log-merger/page-data/page_cells.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "log-merger/summaries/filter.hpp"

namespace uctrace {

Wanted<Message> PageCells::of_messages() {
  return {&Message::kind,       &Message::match,       &Message::src_memory,
          &Message::dst_memory, &Message::src_gpu,     &Message::dst_gpu,
          &Message::mpi,        &Message::comm,        &Message::protocol,
          &Message::bytes,      &Message::src_process, &Message::dst_process,
          &Message::t_start_ns, &Message::t_end_ns,    &Message::t_posted_recv_ns};
}

Wanted<Hop> PageCells::of_paths() {
  return {&Hop::hop,      &Hop::role,          &Hop::transport, &Hop::device,
          &Hop::op,       &Hop::issued_by,     &Hop::network,   &Hop::from_memory,
          &Hop::from_gpu, &Hop::to_memory,     &Hop::to_gpu,    &Hop::remote_device,
          &Hop::count,    &Hop::payload_bytes, &Hop::wire_bytes};
}

Wanted<Transfer> PageCells::of_transfers() {
  return {&Transfer::process,       &Transfer::peer_process, &Transfer::message,
          &Transfer::transport,     &Transfer::device,       &Transfer::op,
          &Transfer::reason,        &Transfer::link,         &Transfer::role,
          &Transfer::network,       &Transfer::from_memory,  &Transfer::to_memory,
          &Transfer::from_gpu,      &Transfer::to_gpu,       &Transfer::wire_bytes,
          &Transfer::payload_bytes, &Transfer::t_start_ns};
}

PageCells::Step PageCells::step_of(const Hop& hop) {
  return {hop.hop,       hop.role,   hop.transport, hop.device,  hop.op,
          hop.issued_by, hop.from(), hop.to(),      hop.network, hop.remote_device};
}

PageCells::Step PageCells::step_of(const Transfer& transfer) {
  return {.role = transfer.role,
          .transport = transfer.transport,
          .device = transfer.device,
          .op = transfer.op,
          .from = {transfer.from_memory, transfer.from_gpu},
          .to = {transfer.to_memory, transfer.to_gpu},
          .network = transfer.network};
}

PageCells::TrafficClass PageCells::class_of(const Message& message) {
  return {.kind = message.kind,
          .match = message.match,
          .src = message.src_place(),
          .dst = message.dst_place(),
          .mpi = message.mpi,
          .comm = message.comm,
          .protocol = message.protocol,
          .size = static_cast<int>(std::bit_width(message.bytes)),
          .path = {}};
}

PageCells::TrafficClass PageCells::class_of(const Transfer& transfer) {
  TrafficClass traffic_class;
  traffic_class.of = transfer.link == Link::reason         ? Of::reason
                     : transfer.link == Link::unattributed ? Of::unattributed
                                                           : Of::no_message;
  if (traffic_class.of == Of::reason) traffic_class.reason = transfer.reason;
  return traffic_class;
}

// What of the path is alike, in the order of the path.
void PageCells::sum_path(std::span<const Hop> path) {
  path_steps_.clear();
  for (const Hop& hop : path) {
    const Step step = step_of(hop);
    auto same = std::find_if(path_steps_.begin(), path_steps_.end(),
                             [&](const auto& known) { return known.first == step; });
    if (same == path_steps_.end()) same = path_steps_.insert(same, {step, PathTotals{}});
    same->second += {hop.count, hop.payload_bytes, hop.wire_bytes};
  }
  std::sort(path_steps_.begin(), path_steps_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::uint32_t PageCells::number_of(const Step& step) {
  const auto [known, is_new] =
      step_numbers_.emplace(step, static_cast<std::uint32_t>(steps_.size()));
  if (is_new) steps_.push_back(&known->first);
  return known->second;
}

std::uint32_t PageCells::cell_at(std::int32_t src, std::int32_t dst, TrafficClass traffic_class) {
  const auto [known, is_new] =
      class_numbers_.emplace(std::move(traffic_class), static_cast<std::uint32_t>(classes_.size()));
  if (is_new) classes_.push_back(&known->first);
  const CellKey key{src, dst, known->second};
  const auto [place, is_new_cell] =
      cell_numbers_.emplace(key, static_cast<std::uint32_t>(cells_.size()));
  if (is_new_cell) {
    const std::size_t before =
        cells_.empty() ? 0 : first_total_.back() + cells_.back().transfers.size();
    first_total_.push_back(before);
    cells_.push_back({.key = key, .transfers = std::vector<PathTotals>(known->first.path.size())});
  }
  return place->second;
}

std::optional<PageCells::Placed> PageCells::add(const Message& message, std::span<const Hop> path) {
  if (!window_.takes(time_of(message))) {
    cell_of_message_.push_back(kNowhere);
    return std::nullopt;
  }
  sum_path(path);
  TrafficClass traffic_class = class_of(message);
  path_totals_.clear();
  for (const auto& [step, sum] : path_steps_) {
    traffic_class.path.push_back(number_of(step));
    path_totals_.push_back(sum);
  }
  const std::uint32_t number =
      cell_at(message.src_process, message.dst_process, std::move(traffic_class));
  cell_of_message_.push_back(number);
  Cell& cell = cells_[number];
  ++cell.messages;
  cell.bytes += message.bytes;
  for (std::size_t i = 0; i < path_totals_.size(); ++i) cell.transfers[i] += path_totals_[i];
  return Placed{number, path_totals_};
}

std::optional<CellStep> PageCells::add(const Transfer& transfer) {
  if (transfer.message >= 0) return place_of(transfer);
  if (!window_.takes(transfer.t_start_ns)) return std::nullopt;
  TrafficClass traffic_class = class_of(transfer);
  traffic_class.path = {number_of(step_of(transfer))};
  const std::uint32_t number = cell_at(static_cast<std::int32_t>(transfer.process),
                                       transfer.peer_process, std::move(traffic_class));
  cells_[number].transfers.front() += {1, transfer.payload_bytes, transfer.wire_bytes};
  return CellStep{number, 0};
}

std::optional<std::uint32_t> PageCells::cell_of_message(std::size_t message) const {
  const std::uint32_t cell = cell_of_message_[message];
  return cell == kNowhere ? std::nullopt : std::optional(cell);
}

std::optional<CellStep> PageCells::place_of(const Transfer& transfer) const {
  if (transfer.message >= 0) return step_of_message(transfer);
  const auto step = step_numbers_.find(step_of(transfer));
  if (!window_.takes(transfer.t_start_ns) || step == step_numbers_.end()) return std::nullopt;
  TrafficClass traffic_class = class_of(transfer);
  traffic_class.path = {step->second};
  const auto of_class = class_numbers_.find(traffic_class);
  if (of_class == class_numbers_.end()) return std::nullopt;
  const auto cell = cell_numbers_.find(
      {static_cast<std::int32_t>(transfer.process), transfer.peer_process, of_class->second});
  return cell == cell_numbers_.end() ? std::nullopt : std::optional(CellStep{cell->second, 0});
}

std::optional<CellStep> PageCells::step_of_message(const Transfer& transfer) const {
  const auto cell = cell_of_message(static_cast<std::size_t>(transfer.message));
  if (!cell) return std::nullopt;
  const CellKey& key = cells_[*cell].key;
  const bool by_source = static_cast<std::int32_t>(transfer.process) == key.src;
  const std::vector<std::uint32_t>& path = classes_[key.traffic_class]->path;
  const Step own = step_of(transfer);
  const auto what = [](const Step& step) {
    return std::tie(step.transport, step.op, step.role, step.device, step.from, step.to);
  };
  // A message to itself has both ends in one process: then any end fits.
  std::optional<CellStep> fitting;
  for (std::uint32_t i = 0; i < path.size(); ++i) {
    const Step& step = *steps_[path[i]];
    if (what(step) != what(own)) continue;
    fitting = {*cell, i};
    if ((step.issued_by == Side::src) == by_source) break;
  }
  return fitting;
}

std::size_t PageCells::total_of(CellStep place) const {
  return first_total_[place.cell] + place.step;
}

}  // namespace uctrace
