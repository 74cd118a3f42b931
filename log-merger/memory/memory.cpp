#include "log-merger/memory/memory.hpp"

#include <algorithm>
#include <iterator>

#include "device-attributor/vendor-facts/beliefs.hpp"
#include "log-merger/model/faults.hpp"

namespace uctrace::merge {

namespace {

bool never_had_a_driver(const ProcessLog& log) {
  const log::ProcessPage& page = log.file.page();
  return page.closed != 0 && page.gpu_driver == 0 && log.devices.drivers.empty();
}

bool is_before_drivers(const ProcessLog& log, std::uint64_t tick) {
  const std::vector<log::GpuDriver>& drivers = log.devices.drivers;
  if (drivers.empty()) return never_had_a_driver(log);
  return std::all_of(drivers.begin(), drivers.end(),
                     [&](const log::GpuDriver& driver) { return tick <= driver.not_before_tick; });
}

// A driver that was found later may have known memory that an earlier one took for the host's.
bool may_be_of_later_driver(const ProcessLog& log, std::uint64_t tick) {
  const std::vector<log::GpuDriver>& drivers = log.devices.drivers;
  if (drivers.size() < 2) return false;
  const auto first =
      std::min_element(drivers.begin(), drivers.end(),
                       [](const auto& one, const auto& other) { return one.tick < other.tick; });
  return std::any_of(drivers.begin(), drivers.end(), [&](const log::GpuDriver& driver) {
    return driver.head.a != first->head.a && driver.not_before_tick < tick && tick <= driver.tick;
  });
}

MemoryPlace memory_place(const KnownMemory& memory) {
  switch (memory.kind) {
    case log::DeviceMemoryKind::device:
    case log::DeviceMemoryKind::pool:
    case log::DeviceMemoryKind::mapped:
    case log::DeviceMemoryKind::imported:
      return {MemoryKind::gpu, memory.gpu};
    case log::DeviceMemoryKind::managed:
      return {MemoryKind::managed, memory.gpu};
    case log::DeviceMemoryKind::mapped_host:
    case log::DeviceMemoryKind::pinned:
      return kHostPlace;
    default:
      return {};
  }
}

bool never_ended(const KnownMemory& memory) { return memory.alive_ns == INT64_MAX; }

// Whether the memory certainly existed at some instant of the use. Memory must exist for the whole
// operation, so one instant is enough.
bool was_there(const KnownMemory& memory, const Use& use, std::int64_t margin_ns) {
  const std::int64_t from = memory.from_ns + margin_ns;
  const std::int64_t until = never_ended(memory) ? INT64_MAX : memory.alive_ns - margin_ns;
  return std::max(use.begin_ns, from) <= std::min(std::max(use.begin_ns, use.end_ns), until);
}

// No definition is missing that might describe other memory, or an end.
bool has_all_definitions(const ProcessLog& log) {
  constexpr auto kDefinitions = static_cast<std::size_t>(log::DropKind::definition);
  return !log.file.damage().any() && log.totals.dropped[kDefinitions] == 0;
}

// Nothing about memory is missing: UCP was recorded to the end, and each query was answered.
bool tells_all(const ProcessLog& log) {
  const bool sees_ucp = std::none_of(log.faults.begin(), log.faults.end(), [](const auto& fault) {
    return fault.first.layer == log::Layer::ucp &&
           !loses_nothing(static_cast<log::FaultCode>(fault.first.head.a));
  });
  return has_all_definitions(log) && log.file.dropped_records() == 0 && sees_ucp &&
         log.file.page().closed != 0 && log.totals.memory_unknown == 0;
}

}  // namespace

MemoryPlace memory_place(const ProcessLog& log, log::MemoryId id, std::uint64_t tick) {
  if (id == log::kHostMemory) return may_be_of_later_driver(log, tick) ? MemoryPlace{} : kHostPlace;
  if (id == log::kMemoryNotAsked) return is_before_drivers(log, tick) ? kHostPlace : MemoryPlace{};
  const KnownMemory* memory = log.devices.find(id);  // none if it is unknown, or several
  return memory != nullptr ? memory_place(*memory) : MemoryPlace{};
}

MemoryPlace place_of_buffer(const ProcessLog& log, const UcpOp& op) {
  const bool has_data =
      op.bytes != op.header_bytes || (op.flags & log::UcpOperation::kUnknownLength) != 0;
  const bool asked = op.memory.own != log::kMemoryNotAsked;
  return !asked && (!has_data || op.is(log::UcpFamily::am_receive))
             ? kHostPlace
             : memory_place(log, op.memory.own, op.start_tick);
}

const char* name_of(log::DeviceMemoryKind kind) {
  static constexpr const char* kNames[] = {"",       "device",      "pool",   "managed",
                                           "mapped", "mapped_host", "pinned", "imported"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(log::DeviceMemoryKind::kCount));
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(log::Belief belief) { return gpu::facts_of(belief).name; }

MemoryPlace place_without_operation(const ProcessLog& log) {
  return never_had_a_driver(log) ? kHostPlace : MemoryPlace{};
}

MemoryPlace place_at(const ProcessLog& log, std::uint64_t address, const Use& use) {
  if (log.devices.drivers.empty()) return place_without_operation(log);
  const KnownMemory* found = nullptr;
  if (use.margin_ns) {
    for (const KnownMemory* memory :
         log.devices.at(address, use.begin_ns, std::max(use.begin_ns, use.end_ns))) {
      if (!was_there(*memory, use, *use.margin_ns)) continue;
      if (found != nullptr) return {};
      found = memory;
    }
  } else {
    const KnownMemory* only = log.devices.only_at(address);
    found = only != nullptr && never_ended(*only) ? only : nullptr;
  }
  if (found != nullptr) {
    return never_ended(*found) && !has_all_definitions(log) ? MemoryPlace{} : memory_place(*found);
  }
  const bool claimed = log.devices.ever_at(address) || log.devices.may_have_more();
  return !claimed && tells_all(log) ? kHostPlace : MemoryPlace{};
}

}  // namespace uctrace::merge
