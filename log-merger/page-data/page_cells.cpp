#include "log-merger/page-data/page_cells.hpp"

#include <bit>
#include <optional>
#include <tuple>

#include "log-merger/summaries/filter.hpp"

namespace uctrace {

using nlohmann::ordered_json;

namespace {

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

// As the page numbers GPUs: in the order of Run::gpus.
ordered_json place_json(MemoryPlace place) {
  return {{"kind", name_of(place.kind)}, {"gpu", place.gpu}};
}

}  // namespace

PageCells::PageCells(const Run& run, std::int64_t from_ns, std::int64_t to_ns, bool is_part)
    : run_(run) {
  const auto within = [&](std::int64_t time) {
    return time < 0 ? !is_part : time >= from_ns && time < to_ns;
  };
  cell_of_message_.assign(run.messages.size(), kNowhere);
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    if (within(time_of(run.messages[i]))) cell_of_message_[i] = add(run.messages[i]);
  }
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    const Transfer& transfer = run.transfers[i];
    if (transfer.message >= 0 || !within(transfer.t_start_ns)) continue;
    cell_of_transfer_.emplace(i, add(transfer));
  }
  first_total_ = {0};
  for (const Cell& cell : cells_) {
    first_total_.push_back(first_total_.back() + cell.transfers.size());
  }
}

std::size_t PageCells::cell_at(std::int32_t src, std::int32_t dst, TrafficClass traffic_class) {
  const std::size_t steps = traffic_class.path.size();
  const auto [known, is_new] = class_numbers_.emplace(std::move(traffic_class), classes_.size());
  if (is_new) classes_.push_back(&known->first);
  const CellKey key{src, dst, known->second};
  const auto [place, is_new_cell] = cell_numbers_.emplace(key, cells_.size());
  if (is_new_cell) cells_.push_back({.key = key, .transfers = std::vector<PathTotals>(steps)});
  return place->second;
}

std::size_t PageCells::number_of(const Step& step) {
  const auto [known, is_new] = step_numbers_.emplace(step, steps_.size());
  if (is_new) steps_.push_back(&known->first);
  return known->second;
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

std::map<PageCells::Step, PathTotals> PageCells::path_sums(const Message& message) const {
  std::map<Step, PathTotals> steps;
  for (const Hop& hop : path_of(run_, message)) {
    PathTotals& sum = steps[step_of(hop)];
    sum.count += hop.count;
    sum.bytes += hop.bytes;
    sum.wire_bytes += hop.wire_bytes;
  }
  return steps;
}

std::size_t PageCells::add(const Message& message) {
  const auto steps = path_sums(message);
  TrafficClass traffic_class;
  traffic_class.src = message.src_place();
  traffic_class.dst = message.dst_place();
  traffic_class.mpi = message.mpi;
  traffic_class.comm = message.comm;
  traffic_class.protocol = message.protocol;
  traffic_class.kind = name_of(message.kind);
  traffic_class.match = name_of(message.match);
  traffic_class.size = static_cast<int>(std::bit_width(message.bytes));
  for (const auto& [step, sum] : steps) traffic_class.path.push_back(number_of(step));
  const std::size_t number =
      cell_at(message.src_process, message.dst_process, std::move(traffic_class));
  Cell& cell = cells_[number];
  ++cell.messages;
  cell.bytes += message.bytes;
  auto total = cell.transfers.begin();
  for (const auto& [step, sum] : steps) {
    total->count += sum.count;
    total->bytes += sum.bytes;
    total->wire_bytes += sum.wire_bytes;
    ++total;
  }
  return number;
}

std::size_t PageCells::add(const Transfer& transfer) {
  TrafficClass traffic_class;
  traffic_class.reason = transfer.link == Link::reason         ? run_.texts[transfer.reason]
                         : transfer.link == Link::unattributed ? "unattributed"
                                                               : "no_message";
  traffic_class.path = {number_of(step_of(transfer))};
  const std::size_t number = cell_at(static_cast<std::int32_t>(transfer.process),
                                     transfer.peer_process, std::move(traffic_class));
  PathTotals& total = cells_[number].transfers.front();
  ++total.count;
  total.bytes += transfer.payload;
  total.wire_bytes += transfer.bytes;
  return number;
}

std::size_t PageCells::total_of_transfer(const Transfer& transfer, std::size_t index) const {
  if (transfer.message < 0) {
    const auto found = cell_of_transfer_.find(index);
    return found == cell_of_transfer_.end() ? kNowhere : first_total(found->second);
  }
  const std::size_t cell = cell_of_message_[static_cast<std::size_t>(transfer.message)];
  if (cell == kNowhere) return kNowhere;
  const Message& message = run_.messages[static_cast<std::size_t>(transfer.message)];
  const bool by_source = static_cast<std::int32_t>(transfer.process) == message.src_process;
  const std::vector<std::size_t>& path = classes_[cells_[cell].key.traffic_class]->path;
  const Step own = step_of(transfer);
  const auto what = [](const Step& step) {
    return std::tuple(step.transport, step.op, step.role, step.device, step.from, step.to);
  };
  // A message to itself has both ends in one process: then any end fits.
  std::size_t fitting = kNowhere;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Step& step = *steps_[path[i]];
    if (what(step) != what(own)) continue;
    if ((step.issued_by == Side::src) == by_source) return first_total(cell) + i;
    fitting = first_total(cell) + i;
  }
  return fitting;
}

ordered_json PageCells::text(TextId id) const {
  return id == kNoText ? ordered_json(nullptr) : ordered_json(run_.texts[id]);
}

// A step always has a name for a filter to choose it by.
std::string PageCells::name(TextId id) const { return id == kNoText ? "unknown" : run_.texts[id]; }

ordered_json PageCells::step_json(const Step& step) const {
  return {{"hop", step.hop},
          {"transport", name(step.transport)},
          {"device", name(step.device)},
          {"remote_device", text(step.remote_device)},
          {"network", step.network},
          {"op", name(step.op)},
          {"role", name_of(step.role)},
          {"issued_by", name_of(step.issued_by)},
          {"from", place_json(step.from)},
          {"to", place_json(step.to)}};
}

ordered_json PageCells::class_json(const TrafficClass& traffic_class) const {
  const int size = traffic_class.size;
  const bool is_message = traffic_class.reason.empty();
  const ordered_json none = nullptr;
  return {{"kind", or_null(traffic_class.kind)},
          {"mpi", text(traffic_class.mpi)},
          {"comm", text(traffic_class.comm)},
          {"protocol", text(traffic_class.protocol)},
          {"size", size < 0 ? ordered_json(nullptr) : ordered_json(size)},
          {"match", or_null(traffic_class.match)},
          {"reason", or_null(traffic_class.reason)},
          {"src_memory", is_message ? place_json(traffic_class.src) : none},
          {"dst_memory", is_message ? place_json(traffic_class.dst) : none},
          {"path", traffic_class.path}};
}

ordered_json PageCells::steps_json() const {
  ordered_json steps = ordered_json::array();
  for (const Step* step : steps_) steps.push_back(step_json(*step));
  return steps;
}

ordered_json PageCells::classes_json() const {
  ordered_json classes = ordered_json::array();
  for (const TrafficClass* traffic_class : classes_) classes.push_back(class_json(*traffic_class));
  return classes;
}

ordered_json PageCells::cells_json() const {
  ordered_json cells = ordered_json::array();
  for (const Cell& cell : cells_) {
    ordered_json transfers = ordered_json::array();
    for (const PathTotals& total : cell.transfers) {
      transfers.push_back(
          {{"count", total.count}, {"bytes", total.bytes}, {"wire_bytes", total.wire_bytes}});
    }
    cells.push_back({{"src", cell.key.src},
                     {"dst", cell.key.dst},
                     {"class", cell.key.traffic_class},
                     {"messages", cell.messages},
                     {"bytes", cell.bytes},
                     {"transfers", std::move(transfers)}});
  }
  return cells;
}

}  // namespace uctrace
