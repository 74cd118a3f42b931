#include "log-merger/audit/counted_transports.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace uctrace::merge {

namespace {

namespace fs = std::filesystem;

constexpr auto kUnknownOp = static_cast<std::size_t>(log::UctOp::kCount);

// By interface and operation, so that names are made once. The last one is for operations of
// damaged records.
using InterfaceSums = std::vector<std::array<log::CounterTotal, kUnknownOp + 1>>;

TransportSums named_sums(const Job& job, ProcessIndex process, const InterfaceSums& sums) {
  TransportSums result;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Interface& interface = job.logs[process].interfaces[i];
    const std::string name =
        job.run.texts[interface.transport] + '/' + job.run.texts[interface.device];
    for (std::size_t op = 0; op < sums[i].size(); ++op) {
      if (sums[i][op].messages != 0) result[{name, static_cast<log::UctOp>(op)}] += sums[i][op];
    }
  }
  return result;
}

std::vector<TransportSums> recorded_sums(const Job& job) {
  std::vector<InterfaceSums> sums(job.logs.size());
  for (const ProcessIndex process : job.logs.indexes()) {
    sums[process.place()].resize(job.logs[process].interfaces.size());
  }
  for (const UctOp& op : job.uct) {
    if (op.status < 0 || op.interface == kNone) continue;  // the latter is a fault that is reported
    const std::size_t kind = std::min(static_cast<std::size_t>(op.op), kUnknownOp);
    sums[op.process.place()][op.interface.place()][kind] += {1, op.bytes};
  }
  std::vector<TransportSums> result;
  for (const ProcessIndex process : job.logs.indexes()) {
    result.push_back(named_sums(job, process, sums[process.place()]));
  }
  return result;
}

// The complete counts of a log's process; nullopt: not known.
std::optional<log::CounterSnapshot> final_counters(const ProcessLog& log, const fs::path& path) {
  try {
    log::CounterSnapshot counters = log::CounterFile(path).read();
    const log::ProcessPage& page = log.file.page();
    const bool is_its = counters.page.pid == page.pid &&
                        counters.page.start_time == page.start_time &&
                        counters.page.image == page.image;
    const bool is_whole = counters.page.closed == 1 && counters.unplaced_messages() == 0 &&
                          counters.page.lost_names == 0;
    return is_its && is_whole ? std::optional(std::move(counters)) : std::nullopt;
  } catch (const log::FileError&) {
    return std::nullopt;
  }
}

}  // namespace

TransportSums transport_sums(const log::CounterSnapshot& process) {
  TransportSums sums;
  for (const auto& [key, total] : process.rows) {
    if (log::kind_of(key) != log::CounterKind::interface) continue;
    const std::uint64_t subject = log::subject_of(key);
    const auto name = process.interfaces.find(static_cast<std::uint32_t>(subject));
    sums[{name != process.interfaces.end() ? name->second : "",
          static_cast<log::UctOp>(subject >> log::kCounterOpShift)}] += total;
  }
  return sums;
}

void CountedTransports::add(const TransportSums& by_counters, const TransportSums& by_records) {
  for (const auto& [key, total] : by_counters) {
    counted += total.messages;
    const auto records = by_records.find(key);
    differing += records == by_records.end() || records->second != total;
  }
  for (const auto& [key, total] : by_records) {
    recorded += total.messages;
    differing += !by_counters.contains(key);
  }
}

CountedTransports compare_counted_transports(const Job& job) {
  CountedTransports result;
  std::vector<fs::path> paths;
  for (const ProcessLog& log : job.logs) {
    std::error_code error;
    paths.push_back(log::counters_beside(log.file.name()));
    const bool is_there = fs::exists(paths.back(), error);
    result.any |= is_there;
    result.unclear |= !is_there;
  }
  if (!result.any) return result;
  const std::vector<TransportSums> recorded = recorded_sums(job);
  for (const ProcessIndex process : job.logs.indexes()) {
    const auto counters = final_counters(job.logs[process], paths[process.place()]);
    result.unclear |= !counters;
    if (counters) result.add(transport_sums(*counters), recorded[process.place()]);
  }
  return result;
}

}  // namespace uctrace::merge
