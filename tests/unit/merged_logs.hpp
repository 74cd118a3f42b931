// Logs of a job of MPI, merged as if they lay in a folder, and what is noted of the run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log-merger/merge.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge::test {

using log::test::LogBuilder;

inline constexpr std::uint64_t kDayNs = 86'400'000'000'000;
inline constexpr std::uint64_t kSomeDayNs = 19'000 * kDayNs;  // in 2022

// A process of a job of MPI that made `calls` calls, each of 10 ticks.
inline LogBuilder process(std::int32_t rank, std::uint64_t calls = 1) {
  LogBuilder log;
  log.page.world_rank = rank;
  log.page.pid += static_cast<std::uint32_t>(rank);
  log.page.anchors[0] = {1000, 1'000'000, kSomeDayNs};
  log.page.anchors[1] = {2'001'000, 3'000'000, kSomeDayNs + 2'000'000};
  log.chunk(log::Stream::events, 0, 1);
  for (std::uint64_t i = 0; i < calls; ++i) {
    log::MpiCall call{};
    call.start_tick = 1000 + 20 * i;
    call.duration_ticks = 10;
    log.add(call, log::RecordType::mpi_call);
    ++log.lanes[0].counters.mpi_calls;
  }
  return log;
}

inline Run merged(std::vector<LogBuilder> builders, const MergeOptions& options = {}) {
  LogSet logs;
  logs.folder = "folder";
  for (std::size_t i = 0; i < builders.size(); ++i) {
    const std::string name = "log" + std::to_string(i);
    logs.add(name, [&] { return log::LogFile::from_bytes(builders[i].bytes(), name); });
  }
  return merge_logs(std::move(logs), options);
}

inline bool has_note(const Run& run, std::string_view text) {
  return std::any_of(run.notes.begin(), run.notes.end(),
                     [&](const std::string& note) { return note.find(text) != note.npos; });
}

}  // namespace uctrace::merge::test
