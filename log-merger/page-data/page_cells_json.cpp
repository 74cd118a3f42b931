// Cells as the page reads them.
#include "log-merger/page-data/page_cells.hpp"

namespace uctrace {

using nlohmann::ordered_json;

namespace {

// As the page numbers GPUs: in the order of Run::gpus.
ordered_json place_json(MemoryPlace place) {
  return {{"kind", name_of(place.kind)}, {"gpu", place.gpu}};
}

}  // namespace

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
  const bool is_message = traffic_class.of == Of::message;
  const ordered_json none = nullptr;
  const auto of_message = [&](auto value) { return is_message ? ordered_json(value) : none; };
  const ordered_json reason = traffic_class.of == Of::reason         ? text(traffic_class.reason)
                              : traffic_class.of == Of::unattributed ? ordered_json("unattributed")
                              : traffic_class.of == Of::no_message   ? ordered_json("no_message")
                                                                     : none;
  return {{"kind", of_message(name_of(traffic_class.kind))},
          {"mpi", text(traffic_class.mpi)},
          {"comm", text(traffic_class.comm)},
          {"protocol", text(traffic_class.protocol)},
          {"size", of_message(traffic_class.size)},
          {"match", of_message(name_of(traffic_class.match))},
          {"reason", reason},
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
