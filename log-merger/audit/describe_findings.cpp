#include "log-merger/audit/describe_findings.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

using Json = nlohmann::ordered_json;

namespace {

const char* word_of(log::Clock clock) {
  switch (clock) {
    case log::Clock::tsc:
      return "tsc";
    case log::Clock::cntvct:
      return "cntvct";
    case log::Clock::monotonic_raw:
      return "clock_monotonic_raw";
  }
  return "unknown";
}

template <typename Row, typename ToJson>
Json list_json(const std::vector<Row>& rows, ToJson to_json) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back(to_json(row));
  }
  return list;
}

std::uint64_t total_messages(const std::vector<ViolationsOfPair>& pairs) {
  std::uint64_t sum = 0;
  for (const ViolationsOfPair& pair : pairs) {
    sum += pair.messages;
  }
  return sum;
}

// Why no measurement leads to a clock, which is therefore placed by wall clocks.
std::string why_not_measured(const Job& job, std::size_t clock) {
  bool any = false;
  for (const ProcessLog& log : job.logs) {
    for (const auto& [fault, detail] : log.faults) {
      const bool told =
          static_cast<log::FaultCode>(fault.head.a) == log::FaultCode::clock_not_measured;
      if (told && log.monotonic_clock == clock) return plain_text(detail);
    }
    any |= !log.tool_traffic.empty();
  }
  return any ? "its processes did not start together with those that measured"
             : "no process measured: uctrace record was not in front of the launcher, or "
               "UCTRACE_CLOCK is off";
}

// The relation of each host's clock to that of the first rank.
Json host_clocks_json(const Job& job) {
  std::map<std::pair<std::size_t, std::string_view>, ProcessIndex> first_of_host;
  for (std::size_t i = 0; i < job.logs.size(); ++i) {
    const ProcessLog& log = job.logs[i];
    first_of_host.try_emplace({log.monotonic_clock, log.file.host()}, ProcessIndex(i));
  }
  Json list = Json::array();
  for (const auto& [host, process] : first_of_host) {
    const PlacedClock* place = place_of(job, process);
    Json row = {{"host", plain_text(host.second)}};
    if (place == nullptr) {
      row["by"] = "wall clock";
      row["why"] = why_not_measured(job, host.first);
    } else if (place->stretches.empty()) {
      row["by"] = "same clock";
    } else {
      const ClockStretch& way = place->stretches.front();
      row["by"] = "measured";
      row["offset_ns"] = place->line.offset_ns;
      row["drift_ppm"] = place->drift_known ? Json(place->line.rate * 1e6) : Json(nullptr);
      row["error_ns"] = std::max(place->error_at(way.begin_ns), place->error_at(way.end_ns));
      row["round_trip_ns"] = place->round_trip_ns;
      row["measurements"] = place->measurements;
      row["round_trips"] = place->round_trips;
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json damaged_json(const Job& job) {
  Json list = Json::array();
  for (const ProcessLog& log : job.logs) {
    if (log.file.damage().any()) {
      list.push_back(
          {{"log", plain_text(log.file.name())}, {"damage", log.file.damage().sentences()}});
    }
  }
  return list;
}

}  // namespace

Json clock_json(const Job& job) {
  const bool known = std::all_of(job.clock_places.begin(), job.clock_places.end(),
                                 [](const auto& place) { return place.has_value(); });
  Json error = nullptr;  // by wall clocks: the accuracy of the site's time service is not known
  if (known) {
    error = job.clock_error_ns;
  }
  return {{"source", job.logs.empty() ? "none" : word_of(job.logs.front().file.page().clock)},
          {"max_error_ns", error},
          {"violations", total_messages(job.findings.violations)},
          {"within_error", job.findings.early_within_error},
          {"violations_by_hosts", list_json(job.findings.violations,
                                            [](const ViolationsOfPair& pair) -> Json {
                                              return {{"src", pair.src_host},
                                                      {"dst", pair.dst_host},
                                                      {"messages", pair.messages},
                                                      {"worst_ns", pair.worst_ns}};
                                            })},
          {"backward", list_json(job.findings.backward_clocks,
                                 [](const BackwardClock& clock) -> Json {
                                   return {{"log", plain_text(clock.log)},
                                           {"anchors", clock.anchors},
                                           {"calls", clock.calls},
                                           {"events", clock.events}};
                                 })},
          {"wall_clock_steps",
           list_json(job.findings.wall_clock_steps,
                     [](const WallClockStep& step) -> Json {
                       return {{"host", plain_text(step.host)}, {"step_ns", step.step_ns}};
                     })},
          {"disagreements", list_json(job.findings.clock_disagreements,
                                      [](const ClockDisagreement& clocks) -> Json {
                                        return {{"log", plain_text(clocks.log)},
                                                {"with", plain_text(clocks.with)},
                                                {"by_ns", clocks.by_ns}};
                                      })},
          {"hosts_aligned_by", job.monotonic_clocks <= 1 ? "same clock"
                               : known                   ? "measured"
                                                         : "wall clock"},
          {"hosts", host_clocks_json(job)}};
}

Json folder_json(const Job& job) {
  const Findings& found = job.findings;
  return {
      {"jobs", list_json(found.jobs,
                         [](const JobInFolder& other) -> Json {
                           return {{"job", plain_text(other.key)},
                                   {"processes", other.processes},
                                   {"started_realtime_ns", other.started_realtime_ns},
                                   {"shown", other.shown}};
                         })},
      {"left_out",
       list_json(found.left_out,
                 [](const LeftOut& file) -> Json {
                   return {{"log", plain_text(file.log)}, {"why", plain_text(file.problem.why)}};
                 })},
      {"second_logs", list_json(found.second_logs,
                                [](const SecondLog& second) -> Json {
                                  return {{"log", plain_text(second.log)},
                                          {"of", plain_text(second.of)},
                                          {"same", second.same}};
                                })},
      {"unreadable", found.unreadable()},
      {"missing_ranks", found.missing_ranks},
      {"damaged", damaged_json(job)},
      {"impossible", list_json(found.impossible,
                               [](const ImpossibleRecords& records) -> Json {
                                 return {{"log", plain_text(records.log)},
                                         {"what", records.what},
                                         {"records", records.records}};
                               })},
      {"contradictions", list_json(found.contradictions, [](const Contradiction& c) -> Json {
         return {{"log", plain_text(c.log)},
                 {"what", c.what},
                 {"counted", c.counted},
                 {"recorded", c.recorded}};
       })}};
}

}  // namespace uctrace::merge
