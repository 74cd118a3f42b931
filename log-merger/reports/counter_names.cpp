#include "log-merger/reports/counter_names.hpp"

#include <fmt/format.h>

#include <utility>

#include "event-log/format/kinds.hpp"
#include "log-merger/model/gpu_names.hpp"
#include "log-merger/model/ucs_names.hpp"

namespace uctrace {

std::string counted_name(const CounterNames& names, std::uint64_t number) {
  const auto found = names.find(static_cast<std::uint32_t>(number));
  return found != names.end() ? found->second : fmt::format("#{}", number);
}

Cell rank_cell(const log::CountedSide& side) {
  return side.rank < 0 ? Cell() : Cell(static_cast<std::uint64_t>(side.rank));
}

Cell side_cell(const log::CountedSides& sides, const log::CountedSide& side) {
  if (!side.is_known()) return {};
  return sides.is_told_by_rank(side) ? rank_cell(side) : Cell(sides.label(side));
}

CountedOperation counted_operation(const log::CounterSnapshot& process, std::uint64_t subject) {
  const std::string name = counted_name(process.interfaces, counted_interface(subject));
  const std::size_t slash = name.find('/');
  const auto operation = static_cast<log::UctOp>(subject >> log::kCounterOpShift);
  return {.transport = name.substr(0, slash),
          .device = slash == std::string::npos ? "" : name.substr(slash + 1),
          .operation = merge::uct_op_name(operation)};
}

CountedData counted_data(const log::CounterSnapshot& process, std::uint64_t subject) {
  CountedData found{.gpu = {},
                    .bus = {},
                    .memory = "unknown",
                    .data = (subject & log::kDataReceived) != 0 ? "received" : "sent"};
  const auto number = static_cast<std::uint32_t>(subject);
  if (number == 0) return found;
  found.memory = (subject & log::kManagedMemory) != 0 ? "managed" : "gpu";
  const auto named = process.gpus.find(number);
  if (named == process.gpus.end()) {
    found.gpu = fmt::format("#{}", number);
    return found;
  }
  const log::CounterGpu& facts = named->second.facts;
  GpuNames names = names_of_gpu(named->second.vendor, facts.uuid, facts.gpu_uuid, facts.pci);
  found.gpu = std::move(names.uuid);
  found.bus = std::move(names.bus);
  return found;
}

std::string_view collective_name(log::CounterKind kind) {
  static constexpr std::string_view kNames[] = {"one-to-all", "all-to-one", "all-to-all"};
  return kNames[static_cast<std::size_t>(kind) -
                static_cast<std::size_t>(log::CounterKind::one_to_all)];
}

}  // namespace uctrace
