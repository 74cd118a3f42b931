#include "log-merger/page-data/cells_json.hpp"

#include <span>
#include <string>
#include <utility>

#include "log-merger/page-data/page_texts.hpp"

namespace uctrace {

using nlohmann::ordered_json;

namespace {

// Numbers GPUs as the page does: in the order of Run::gpus.
ordered_json place_json(MemoryKind kind, std::int32_t gpu) {
  return {{"kind", name_of(kind)}, {"gpu", gpu}};
}

// A step always has a name for a filter to choose it by.
std::string name_in(const Run& run, TextId id) { return id == kNoText ? "unknown" : run.texts[id]; }

ordered_json step_json(const Run& run, const PathStep& step) {
  return {{"hop", step.hop},
          {"transport", name_in(run, step.transport)},
          {"device", name_in(run, step.device)},
          {"remote_device", text_or_null(run, step.remote_device)},
          {"network", step.network},
          {"op", name_in(run, step.op)},
          {"role", name_of(step.role)},
          {"issued_by", name_of(step.issued_by)},
          {"from", place_json(step.from_memory, step.from_gpu)},
          {"to", place_json(step.to_memory, step.to_gpu)}};
}

ordered_json class_json(const Run& run, const CellTables& tables, const TrafficClass& of) {
  const bool is_message = of.of == TrafficOf::message;
  const ordered_json none = nullptr;
  const auto of_message = [&](auto value) { return is_message ? ordered_json(value) : none; };
  const ordered_json reason = is_message                   ? none
                              : of.of == TrafficOf::reason ? text_or_null(run, of.reason)
                                                           : ordered_json(name_of(of.of));
  ordered_json path = ordered_json::array();
  for (const ClassStep& step : tables.path_of(of)) path.push_back(step.step);
  return {{"kind", of_message(name_of(of.kind))},
          {"mpi", text_or_null(run, of.mpi)},
          {"comm", text_or_null(run, of.comm)},
          {"protocol", text_or_null(run, of.protocol)},
          {"size", of_message(of.size)},
          {"match", of_message(name_of(of.match))},
          {"reason", reason},
          {"src_memory", is_message ? place_json(of.src_memory, of.src_gpu) : none},
          {"dst_memory", is_message ? place_json(of.dst_memory, of.dst_gpu) : none},
          {"path", std::move(path)}};
}

}  // namespace

ordered_json steps_json(const Run& run, const CellTables& tables) {
  ordered_json steps = ordered_json::array();
  for (const PathStep& step : tables.path_steps) steps.push_back(step_json(run, step));
  return steps;
}

ordered_json classes_json(const Run& run, const CellTables& tables) {
  ordered_json classes = ordered_json::array();
  for (const TrafficClass& of : tables.traffic_classes) {
    classes.push_back(class_json(run, tables, of));
  }
  return classes;
}

std::vector<PackedTable> pack_cells(const CellTables& tables) {
  PackedTable cells{"cells",
                    {{"src", Coding::values, {}},
                     {"dst", Coding::values, {}},
                     {"class", Coding::values, {}},
                     {"messages", Coding::values, {}},
                     {"bytes", Coding::values, {}},
                     {"timed", Coding::values, {}},
                     {"ns", Coding::values, {}}}};
  PackedTable transfers{"cell_transfers",
                        {{"count", Coding::values, {}},
                         {"bytes", Coding::values, {}},
                         {"wire_bytes", Coding::values, {}}}};
  for (const TrafficCell& cell : tables.cells) {
    append(cells, {cell.src_process, cell.dst_process, cell.traffic_class, number(cell.messages),
                   number(cell.bytes), number(cell.timed), number(cell.ns)});
    for (const CellTotal& total :
         std::span(tables.cell_totals).subspan(cell.first_total, cell.totals)) {
      append(transfers,
             {number(total.count), number(total.payload_bytes), number(total.wire_bytes)});
    }
  }
  return {std::move(cells), std::move(transfers)};
}

}  // namespace uctrace
