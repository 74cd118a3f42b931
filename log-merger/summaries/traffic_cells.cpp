#include "log-merger/summaries/traffic_cells.hpp"

#include <algorithm>
#include <tuple>

#include "log-merger/model/latency.hpp"
#include "log-merger/model/size_class.hpp"

namespace uctrace {

namespace {

PathStep step_of(const Hop& hop) {
  return {.hop = hop.hop,
          .role = hop.role,
          .issued_by = hop.issued_by,
          .network = hop.network,
          .from_memory = hop.from_memory,
          .to_memory = hop.to_memory,
          .from_gpu = hop.from_gpu,
          .to_gpu = hop.to_gpu,
          .transport = hop.transport,
          .device = hop.device,
          .remote_device = hop.remote_device,
          .op = hop.op};
}

PathStep step_of(const Transfer& transfer) {
  return {.role = transfer.role,
          .network = transfer.network,
          .from_memory = transfer.from_memory,
          .to_memory = transfer.to_memory,
          .from_gpu = transfer.from_gpu,
          .to_gpu = transfer.to_gpu,
          .transport = transfer.transport,
          .device = transfer.device,
          .op = transfer.op};
}

// The order along the path.
auto order_of(const PathStep& step) {
  return std::tie(step.hop, step.role, step.transport, step.device, step.op, step.issued_by,
                  step.from_memory, step.from_gpu, step.to_memory, step.to_gpu, step.network,
                  step.remote_device);
}

// The common key of a transfer and its hop.
template <typename Step>
auto what_of(const Step& step) {
  return std::tie(step.transport, step.op, step.role, step.device, step.from_memory, step.from_gpu,
                  step.to_memory, step.to_gpu);
}

TrafficClass class_of(const Message& message) {
  TrafficClass traffic_class;
  traffic_class.kind = message.kind;
  traffic_class.match = message.match;
  traffic_class.src_memory = message.src_memory;
  traffic_class.dst_memory = message.dst_memory;
  traffic_class.size = size_class(message.bytes);
  traffic_class.src_gpu = message.src_gpu;
  traffic_class.dst_gpu = message.dst_gpu;
  traffic_class.mpi = message.mpi;
  traffic_class.comm = message.comm;
  traffic_class.protocol = message.protocol;
  return traffic_class;
}

TrafficClass class_of(const Transfer& transfer) {
  TrafficClass traffic_class;
  traffic_class.of = transfer.link == Link::reason         ? TrafficOf::reason
                     : transfer.link == Link::unattributed ? TrafficOf::unattributed
                                                           : TrafficOf::no_message;
  if (traffic_class.of == TrafficOf::reason) traffic_class.reason = transfer.reason;
  return traffic_class;
}

}  // namespace

Wanted<Message> TrafficCells::of_messages() {
  return {&Message::kind,       &Message::match,       &Message::src_memory,
          &Message::dst_memory, &Message::src_gpu,     &Message::dst_gpu,
          &Message::mpi,        &Message::comm,        &Message::protocol,
          &Message::bytes,      &Message::src_process, &Message::dst_process,
          &Message::t_start_ns, &Message::t_end_ns,    &Message::t_posted_recv_ns};
}

Wanted<Hop> TrafficCells::of_paths() {
  return {&Hop::hop,      &Hop::role,          &Hop::transport, &Hop::device,
          &Hop::op,       &Hop::issued_by,     &Hop::network,   &Hop::from_memory,
          &Hop::from_gpu, &Hop::to_memory,     &Hop::to_gpu,    &Hop::remote_device,
          &Hop::count,    &Hop::payload_bytes, &Hop::wire_bytes};
}

Wanted<Transfer> TrafficCells::of_transfers() {
  return {&Transfer::process,       &Transfer::peer_process, &Transfer::message,
          &Transfer::transport,     &Transfer::device,       &Transfer::op,
          &Transfer::reason,        &Transfer::link,         &Transfer::role,
          &Transfer::network,       &Transfer::from_memory,  &Transfer::to_memory,
          &Transfer::from_gpu,      &Transfer::to_gpu,       &Transfer::wire_bytes,
          &Transfer::payload_bytes, &Transfer::t_start_ns};
}

TrafficCells::TrafficCells(const TimeWindow& window, CellTables tables)
    : window_(window), tables_(std::move(tables)) {
  for (const PathStep& step : tables_.path_steps) step_numbers_.of(key_of(step));
  for (const TrafficClass& known : tables_.traffic_classes) {
    Path path;
    for (const ClassStep& step : tables_.path_of(known)) path.push_back(step.step);
    class_numbers_.of(key_of(known, path_numbers_.of(path).first));
  }
  for (const TrafficCell& cell : tables_.cells) {
    cell_numbers_.of(summaries::key_of(cell.src_process, cell.dst_process, cell.traffic_class));
  }
}

TrafficCells::StepKey TrafficCells::key_of(const PathStep& step) {
  return std::apply([](const auto&... part) { return summaries::key_of(part...); }, order_of(step));
}

TrafficCells::ClassKey TrafficCells::key_of(const TrafficClass& c, std::uint32_t path) {
  return summaries::key_of(c.of, c.kind, c.match, c.src_memory, c.dst_memory, c.size, c.src_gpu,
                           c.dst_gpu, c.mpi, c.comm, c.protocol, c.reason, path);
}

std::uint32_t TrafficCells::number_of(const PathStep& step) {
  const auto [number, is_new] = step_numbers_.of(key_of(step));
  if (is_new) tables_.path_steps.push_back(step);
  return number;
}

bool TrafficCells::comes_before(std::uint32_t a, std::uint32_t b) const {
  return order_of(tables_.path_steps[a]) < order_of(tables_.path_steps[b]);
}

void TrafficCells::sort_path(Path& path) const {
  std::sort(path.begin(), path.end(),
            [this](std::uint32_t a, std::uint32_t b) { return comes_before(a, b); });
}

// Joins similar hops, in path order. A path may be long, and all hops different.
void TrafficCells::sum_path(std::span<const Hop> path) {
  hop_steps_.clear();
  for (const Hop& hop : path) hop_steps_.push_back(number_of(step_of(hop)));
  path_ = hop_steps_;
  sort_path(path_);
  path_.erase(std::unique(path_.begin(), path_.end()), path_.end());
  path_totals_.assign(path_.size(), {});
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto at =
        std::lower_bound(path_.begin(), path_.end(), hop_steps_[i],
                         [this](std::uint32_t a, std::uint32_t b) { return comes_before(a, b); });
    path_totals_[static_cast<std::size_t>(at - path_.begin())] +=
        {path[i].count, path[i].payload_bytes, path[i].wire_bytes};
  }
}

// Of a class of the path that was summed.
std::uint32_t TrafficCells::cell_at(std::int32_t src, std::int32_t dst,
                                    TrafficClass traffic_class) {
  const std::uint32_t path = path_numbers_.of(path_).first;
  const auto [number, is_new] = class_numbers_.of(key_of(traffic_class, path));
  if (is_new) {
    traffic_class.first_step = static_cast<std::uint32_t>(tables_.class_steps.size());
    traffic_class.steps = static_cast<std::uint32_t>(path_.size());
    for (const std::uint32_t step : path_) tables_.class_steps.push_back({step});
    tables_.traffic_classes.push_back(traffic_class);
  }
  const auto [cell, is_new_cell] = cell_numbers_.of(summaries::key_of(src, dst, number));
  if (is_new_cell) {
    tables_.cells.push_back({.src_process = src,
                             .dst_process = dst,
                             .traffic_class = number,
                             .first_total = static_cast<std::uint32_t>(tables_.cell_totals.size()),
                             .totals = static_cast<std::uint32_t>(path_.size())});
    tables_.cell_totals.resize(tables_.cell_totals.size() + path_.size());
  }
  return cell;
}

std::optional<TrafficCells::Placed> TrafficCells::add(const Message& message,
                                                      std::span<const Hop> path) {
  if (!window_.takes(time_of(message))) {
    cell_of_message_.push_back(kNowhere);
    return std::nullopt;
  }
  sum_path(path);
  const std::uint32_t number = cell_at(message.src_process, message.dst_process, class_of(message));
  cell_of_message_.push_back(number);
  TrafficCell& cell = tables_.cells[number];
  ++cell.messages;
  cell.bytes += message.bytes;
  if (const auto ns = time_taken(message)) {
    ++cell.timed;
    cell.ns += *ns;
  }
  for (std::size_t i = 0; i < path_totals_.size(); ++i) {
    tables_.cell_totals[cell.first_total + i] += path_totals_[i];
  }
  return Placed{number, cell.first_total, path_totals_};
}

std::optional<std::uint32_t> TrafficCells::add(const Transfer& transfer) {
  if (transfer.message >= 0) {
    return find(transfer, cell_of_message(static_cast<std::size_t>(transfer.message)));
  }
  if (!window_.takes(transfer.t_start_ns)) return std::nullopt;
  path_.assign(1, number_of(step_of(transfer)));
  const TrafficCell& cell = tables_.cells[cell_at(static_cast<std::int32_t>(transfer.process),
                                                  transfer.peer_process, class_of(transfer))];
  tables_.cell_totals[cell.first_total] += {1, transfer.payload_bytes, transfer.wire_bytes};
  return cell.first_total;
}

std::optional<std::uint32_t> TrafficCells::cell_of_message(std::size_t message) const {
  const std::uint32_t cell = cell_of_message_[message];
  return cell == kNowhere ? std::nullopt : std::optional(cell);
}

std::optional<std::uint32_t> TrafficCells::find(const Message& message,
                                                std::span<const Hop> hops) const {
  if (!window_.takes(time_of(message))) return std::nullopt;
  Path path;
  for (const Hop& hop : hops) {
    const auto step = step_numbers_.find(key_of(step_of(hop)));
    if (!step) return std::nullopt;
    if (std::find(path.begin(), path.end(), *step) == path.end()) path.push_back(*step);
  }
  sort_path(path);
  return find_cell(message.src_process, message.dst_process, class_of(message), path);
}

std::optional<std::uint32_t> TrafficCells::find(const Transfer& transfer,
                                                std::optional<std::uint32_t> cell) const {
  if (transfer.message >= 0) return cell ? total_in(*cell, transfer) : std::nullopt;
  const auto step = step_numbers_.find(key_of(step_of(transfer)));
  if (!window_.takes(transfer.t_start_ns) || !step) return std::nullopt;
  const auto own = find_cell(static_cast<std::int32_t>(transfer.process), transfer.peer_process,
                             class_of(transfer), {*step});
  return own ? std::optional(tables_.cells[*own].first_total) : std::nullopt;
}

std::optional<std::uint32_t> TrafficCells::find_cell(std::int32_t src, std::int32_t dst,
                                                     const TrafficClass& traffic_class,
                                                     const Path& path) const {
  const auto of_path = path_numbers_.find(path);
  if (!of_path) return std::nullopt;
  const auto of_class = class_numbers_.find(key_of(traffic_class, *of_path));
  if (!of_class) return std::nullopt;
  return cell_numbers_.find(summaries::key_of(src, dst, *of_class));
}

// A message to self has both ends in one process: then any end fits.
std::optional<std::uint32_t> TrafficCells::total_in(std::uint32_t cell,
                                                    const Transfer& transfer) const {
  const TrafficCell& of = tables_.cells[cell];
  const bool by_source = static_cast<std::int32_t>(transfer.process) == of.src_process;
  std::optional<std::uint32_t> fitting;
  std::uint32_t total = of.first_total;
  for (const ClassStep& at : tables_.path_of(tables_.traffic_classes[of.traffic_class])) {
    const PathStep& step = tables_.path_steps[at.step];
    if (what_of(step) == what_of(transfer)) {
      fitting = total;
      if ((step.issued_by == Side::src) == by_source) break;
    }
    ++total;
  }
  return fitting;
}

}  // namespace uctrace
