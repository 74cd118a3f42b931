#include "log-merger/reports/gpu_nic_table.hpp"

#include <fmt/format.h>

#include "log-merger/reports/cells.hpp"
#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {
namespace {

Cell known(std::int32_t number) {
  return number < 0 ? Cell{} : Cell{static_cast<std::uint64_t>(number)};
}

}  // namespace

Table gpu_nic_table(const Run& run, const std::vector<GpuNic>& rows) {
  Table table{.key = "gpu_nic",
              .title = "",
              .columns = {{"host", "host"},
                          {"memory", "memory"},
                          {"gpu", "GPU"},
                          {"gpu_bus", "GPU's bus"},
                          {"nic", "card"},
                          {"nic_bus", "card's bus"},
                          {"distance", "distance"},
                          {"numa_distance", "NUMA distance", Unit::count},
                          {"out_operations", "operations out", Unit::count},
                          {"out_bytes", "payload out", Unit::bytes},
                          {"in_operations", "operations in", Unit::count},
                          {"in_bytes", "payload in", Unit::bytes},
                          {"out_staged_bytes", "staged out", Unit::bytes},
                          {"in_staged_bytes", "staged in", Unit::bytes}},
              .rows = {}};
  for (const GpuNic& row : rows) {
    const Gpu gpu = row.gpu < 0 ? Gpu{} : run.gpus[static_cast<std::size_t>(row.gpu)];
    const Nic nic = row.nic < 0 ? Nic{} : run.nics[static_cast<std::size_t>(row.nic)];
    const bool near = row.distance != Distance::unknown;
    table.rows.push_back({text_cell(run, row.host), name_of(row.memory),
                          row.gpu < 0 ? Cell{} : Cell{label_of(run, gpu)}, text_cell(run, gpu.bus),
                          text_cell(run, nic.device), text_cell(run, nic.bus),
                          near ? Cell{name_of(row.distance)} : Cell{}, known(row.numa_distance),
                          row.out_operations, row.out_bytes, row.in_operations, row.in_bytes,
                          row.out_staged_bytes, row.in_staged_bytes});
  }
  return table;
}

Table gpu_nic_text(const Run& run, const std::vector<GpuNic>& rows) {
  Table table{
      .key = "gpu_nic",
      .title = "GPUs and network cards: out of memory over a card, and in; staged: by host memory",
      .columns = {{"host", "host"},
                  {"memory", "memory"},
                  {"nic", "card"},
                  {"distance", "distance"},
                  {"out_bytes", "payload out", Unit::bytes},
                  {"out_operations", "operations", Unit::count},
                  {"in_bytes", "payload in", Unit::bytes},
                  {"in_operations", "operations", Unit::count},
                  {"out_staged_bytes", "staged out", Unit::bytes},
                  {"in_staged_bytes", "staged in", Unit::bytes}},
      .rows = {}};
  for (const GpuNic& row : rows) {
    const TextId card = row.nic < 0 ? kNoText : run.nics[static_cast<std::size_t>(row.nic)].device;
    Cell distance;
    if (row.distance != Distance::unknown) {
      distance = row.numa_distance < 0
                     ? name_of(row.distance)
                     : fmt::format("{} ({})", name_of(row.distance), row.numa_distance);
    }
    table.rows.push_back({text_cell(run, row.host), memory_text(run, row.place()),
                          text_cell(run, card), distance, row.out_bytes, row.out_operations,
                          row.in_bytes, row.in_operations, row.out_staged_bytes,
                          row.in_staged_bytes});
  }
  return table;
}

}  // namespace uctrace
