#include "log-merger/reports/waits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "log-merger/model/durations.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/places.hpp"

namespace uctrace {

namespace {

using nlohmann::ordered_json;

// Number of rows shown of delays and of the critical path.
constexpr std::size_t kShownPlaces = 10;

bool has_all_calls(const RankTime& rank) { return rank.ideal_ns >= 0; }

// Time outside MPI; nothing if calls were not recorded, or several threads called MPI: whether
// threads worked outside calls is not recorded.
std::optional<std::int64_t> useful_ns(const RankTime& rank) {
  if (rank.threads > 1 || !has_all_calls(rank)) return std::nullopt;
  // A store may have any times.
  const auto bits = [](std::int64_t ns) { return static_cast<std::uint64_t>(ns); };
  return static_cast<std::int64_t>(bits(rank.t_end_ns) - bits(rank.t_begin_ns) - bits(rank.mpi_ns) -
                                   bits(rank.sessions_ns));
}

std::int64_t sum_of(std::int64_t a_ns, std::int64_t b_ns) {
  std::int64_t sum = 0;
  add_ns(sum, a_ns);
  add_ns(sum, b_ns);
  return sum;
}

std::int64_t length_of(const Delay& delay) { return sum_of(delay.direct_ns, delay.passed_on_ns); }
std::int64_t length_of(const CriticalPart& part) { return sum_of(part.work_ns, part.mpi_ns); }

template <typename Row>
std::vector<Row> by_place(const Run& run, const std::vector<Row>& rows) {
  return by_place(run, rows, [](const Row& row) { return length_of(row); });
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : -1; }

std::string place_of(const Run& run, const Delay& delay) {
  const TextId site = call_site_of(run, delay.stack);
  std::string place = run.texts[delay.function];
  if (site != kNoText) place += " at " + run.texts[site];
  return place;
}

// By process.
std::map<std::uint32_t, std::int64_t> delays_of_processes(const Run& run) {
  std::map<std::uint32_t, std::int64_t> delays;
  for (const Delay& delay : run.delays) add_ns(delays[delay.process], length_of(delay));
  return delays;
}

Table balance_table(const Run& run) {
  Table table{.key = "balance",
              .title = "What each rank spent its time with, from the start of MPI to its end",
              .columns = {{"rank", "rank"},
                          {"threads", "threads", Unit::count, true},
                          {"runtime_ns", "runtime", Unit::nanoseconds},
                          {"compute_ns", "outside MPI", Unit::nanoseconds},
                          {"mpi_ns", "in MPI", Unit::nanoseconds},
                          {"waiting_ns", "waiting", Unit::nanoseconds},
                          {"moving_ns", "moving", Unit::nanoseconds},
                          {"unknown_ns", "unknown", Unit::nanoseconds, true},
                          {"other_ns", "the rest", Unit::nanoseconds, true},
                          {"delay_ns", "made others wait", Unit::nanoseconds},
                          {"start_and_end_ns", "starting, ending MPI", Unit::nanoseconds, true}},
              .rows = {}};
  const Labels labels(run);
  const auto delays = delays_of_processes(run);
  const auto time = [](std::int64_t ns) {
    return Cell{static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns))};
  };
  for (const RankTime& rank : run.rank_times) {
    const auto delay = delays.find(rank.process);
    const std::optional<std::int64_t> useful = useful_ns(rank);
    table.rows.push_back(
        {labels.of_processes()[rank.process], std::uint64_t{rank.threads},
         time(rank.t_end_ns - rank.t_begin_ns), useful ? time(*useful) : Cell{}, time(rank.mpi_ns),
         time(rank.waiting_ns), time(rank.moving_ns), time(rank.unknown_ns), time(rank.other_ns),
         time(delay == delays.end() ? 0 : delay->second), time(rank.start_and_end_ns)});
  }
  return table;
}

Table delays_table(const Run& run) {
  Table table{.key = "delays",
              .title = "Whose work the waits come from (by the rule of delay costs)",
              .columns = {{"rank", "rank"},
                          {"function", "came late to"},
                          {"call_site", "call site"},
                          {"waits", "waits for it", Unit::count},
                          {"direct_ns", "directly", Unit::nanoseconds},
                          {"passed_on_ns", "passed on", Unit::nanoseconds},
                          {"share_percent", "of waiting %", Unit::percent}},
              .rows = {}};
  const Labels labels(run);
  std::int64_t whole = 0;
  for (const Delay& delay : run.delays) add_ns(whole, length_of(delay));
  const auto text = [&](TextId id) { return id == kNoText ? Cell{} : Cell{run.texts[id]}; };
  for (const Delay& delay : by_place(run, run.delays)) {
    const double percent =
        whole == 0 ? 0 : 100.0 * static_cast<double>(length_of(delay)) / static_cast<double>(whole);
    table.rows.push_back({labels.of_processes()[delay.process], text(delay.function),
                          text(call_site_of(run, delay.stack)), delay.waits,
                          static_cast<std::uint64_t>(delay.direct_ns),
                          static_cast<std::uint64_t>(delay.passed_on_ns), percent});
  }
  return table;
}

std::int64_t length_of(const std::vector<CriticalPart>& path) {
  std::int64_t ns = 0;
  for (const CriticalPart& part : path) add_ns(ns, length_of(part));
  return ns;
}

Table critical_path_table(const Run& run) {
  Table table{.key = "critical_path",
              .title = "The critical path: what the length of the run comes from",
              .columns = {{"rank", "rank"},
                          {"function", "function"},
                          {"call_site", "call site"},
                          {"work_ns", "outside MPI before it", Unit::nanoseconds},
                          {"mpi_ns", "in it", Unit::nanoseconds},
                          {"share_percent", "of the path %", Unit::percent}},
              .rows = {}};
  const Labels labels(run);
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, length_of(run.critical_path)));
  const auto text = [&](TextId id) { return id == kNoText ? Cell{} : Cell{run.texts[id]}; };
  for (const CriticalPart& part : by_place(run, run.critical_path)) {
    table.rows.push_back({labels.of_processes()[part.process], text(part.function),
                          text(call_site_of(run, part.stack)),
                          static_cast<std::uint64_t>(part.work_ns),
                          static_cast<std::uint64_t>(part.mpi_ns),
                          100.0 * static_cast<double>(length_of(part)) / whole});
  }
  return table;
}

// "ranks 1, 3": ranks with unrecorded calls.
std::string ranks_without_calls(const Run& run) {
  const Labels labels(run);
  std::vector<std::string> ranks;
  for (const RankTime& rank : run.rank_times) {
    if (!has_all_calls(rank)) ranks.push_back(labels.of_processes()[rank.process]);
  }
  constexpr std::size_t kNamed = 4;
  if (ranks.size() > kNamed) return fmt::format("{} ranks", ranks.size());
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

bool lacks_calls(const Run& run) {
  return !std::all_of(run.rank_times.begin(), run.rank_times.end(), has_all_calls);
}

std::string critical_path_line(const Run& run) {
  std::int64_t work_ns = 0;
  std::map<std::uint32_t, std::int64_t> ns_of_process;
  for (const CriticalPart& part : run.critical_path) {
    add_ns(work_ns, part.work_ns);
    add_ns(ns_of_process[part.process], length_of(part));
  }
  const std::int64_t whole = length_of(run.critical_path);
  if (whole == 0) return "critical path: not known";
  const auto most =
      std::max_element(ns_of_process.begin(), ns_of_process.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto percent = [&](std::int64_t ns) {
    return 100.0 * static_cast<double>(ns) / static_cast<double>(whole);
  };
  return fmt::format("critical path: {}, {:.0f} % outside MPI; {:.0f} % lies in rank {}{}",
                     format_duration(static_cast<std::uint64_t>(whole)), percent(work_ns),
                     percent(most->second), Labels(run).of_processes()[most->first],
                     lacks_calls(run) ? "; calls that were not recorded count as outside MPI" : "");
}

// The answer to "which rank delays the others?", printed first.
std::string verdict(const Run& run) {
  const auto delays = delays_of_processes(run);
  std::int64_t whole = 0;
  for (const auto& [process, ns] : delays) add_ns(whole, ns);
  if (whole == 0) return "no rank waited for another one, as far as is known";
  const auto worst =
      std::max_element(delays.begin(), delays.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::vector<Delay> places = by_place(run, run.delays);
  const auto place = std::find_if(places.begin(), places.end(), [&](const Delay& delay) {
    return delay.process == worst->first;
  });
  const Labels labels(run);
  return fmt::format("rank {} makes the others wait most: {} of {} ({:.0f} %), coming late to {}",
                     labels.of_processes()[worst->first],
                     format_duration(static_cast<std::uint64_t>(worst->second)),
                     format_duration(static_cast<std::uint64_t>(whole)),
                     100.0 * static_cast<double>(worst->second) / static_cast<double>(whole),
                     place_of(run, *place)) +
         (lacks_calls(run) ? "; calls that were not recorded count as its work" : "");
}

std::string percent_of(double efficiency) {
  return efficiency < 0 ? "-" : fmt::format("{:.1f} %", 100 * efficiency);
}

std::string why_not_known(const Run& run) {
  if (run.rank_times.empty()) return "no process called MPI";
  if (lacks_calls(run)) {
    return fmt::format("calls of {} were not recorded", ranks_without_calls(run));
  }
  const bool has_threads = std::any_of(run.rank_times.begin(), run.rank_times.end(),
                                       [](const RankTime& rank) { return rank.threads > 1; });
  return has_threads ? "several threads of a rank call MPI"
                     : "no time passed between the start of MPI and its end";
}

// "; of 3 of 4 ranks": if some left no log.
std::string coverage_of_ranks(const Run& run) {
  std::map<std::int32_t, std::int32_t> sizes;
  std::int32_t seen = 0, all = 0;
  for (const Process& process : run.processes) {
    if (process.rank < 0 || process.world < 0) continue;
    ++seen;
    sizes[process.world] = std::max(sizes[process.world], process.world_size);
  }
  for (const auto& [world, size] : sizes) all += size;
  return seen < all ? fmt::format("; of {} of {} ranks", seen, all) : "";
}

std::string efficiencies_line(const Run& run) {
  const Efficiencies e = efficiencies_of(run);
  if (e.parallel < 0) return "efficiency: not known: " + why_not_known(run);
  return fmt::format(
      "efficiency: parallel {} = load balance {} x communication {} (= serialisation {} x transfer "
      "{}){}",
      percent_of(e.parallel), percent_of(e.load_balance), percent_of(e.communication),
      percent_of(e.serialisation), percent_of(e.transfer), coverage_of_ranks(run));
}

std::string coverage_line(const Run& run) {
  std::int64_t in_mpi = 0, unknown = 0;
  for (const RankTime& rank : run.rank_times) {
    add_ns(in_mpi, rank.mpi_ns);
    add_ns(unknown, rank.unknown_ns);
  }
  return fmt::format("of {} in MPI on all ranks, {} may or may not be waiting",
                     format_duration(static_cast<std::uint64_t>(in_mpi)),
                     format_duration(static_cast<std::uint64_t>(unknown)));
}

ordered_json efficiencies_json(const Run& run) {
  const Efficiencies e = efficiencies_of(run);
  const auto value = [](double efficiency) {
    return efficiency < 0 ? ordered_json(nullptr) : ordered_json(efficiency);
  };
  return {{"parallel", value(e.parallel)},
          {"load_balance", value(e.load_balance)},
          {"communication", value(e.communication)},
          {"serialisation", value(e.serialisation)},
          {"transfer", value(e.transfer)}};
}

bool chooses(const WaitsFilter& filter) {
  return !filter.rank.empty() || !filter.host.empty() || !filter.comm.empty() ||
         !filter.mpi.empty() || !filter.kind.empty() || filter.from_ns || filter.to_ns;
}

// Requested tables come before those about the whole run.
void write_chosen(std::ostream& out, const Table& waits, const WaitsOptions& options) {
  write_text(out, waits, options.colour, options.width);
  out << "\n# From here on: the whole run, whatever the options choose.\n\n";
}

void write_text_waits(std::ostream& out, const RowSource& source, const Table& waits,
                      bool are_chosen, const WaitsOptions& options) {
  const Run& run = source.run();
  if (are_chosen) write_chosen(out, waits, options);
  out << verdict(run) << '\n';
  write_run_line(out, run);
  out << "# " << efficiencies_line(run) << "\n# " << critical_path_line(run) << "\n# "
      << coverage_line(run) << "\n\n";
  Table delays = delays_table(run);
  delays.keep_first(options.limit.value_or(kShownPlaces));
  Table path = critical_path_table(run);
  path.keep_first(options.limit.value_or(kShownPlaces));
  Table balance = balance_table(run);
  if (options.limit) balance.keep_first(*options.limit);
  std::vector<std::reference_wrapper<const Table>> tables = {balance, delays, path};
  if (!are_chosen) tables.emplace_back(waits);
  for (const Table& table : tables) {
    write_text(out, table, options.colour, options.width);
    out << '\n';
  }
  for (const std::string& note : run.notes) out << "# note: " << note << '\n';
  out << "# " << identities_line(run) << '\n';
}

void write_json_waits(std::ostream& out, const Run& run, const Table& waits) {
  ordered_json json = {{"schema", kInfoSchema}, {"run", run.run_id}};
  json["waits"] = to_json(waits);
  json["delays"] = to_json(delays_table(run));
  json["critical_path"] = to_json(critical_path_table(run));
  json["balance"] = to_json(balance_table(run));
  json["efficiency"] = efficiencies_json(run);
  json["identities"] = identities_json(run);
  json["notes"] = run.notes;
  out << dump(json, 2) << '\n';
}

}  // namespace

Efficiencies efficiencies_of(const Run& run) {
  double sum = 0, greatest = 0;
  std::int64_t begin = INT64_MAX, end = INT64_MIN, ideal_end = INT64_MIN;
  for (const RankTime& rank : run.rank_times) {
    const std::optional<std::int64_t> useful = useful_ns(rank);
    if (!useful) return {};
    sum += static_cast<double>(*useful);
    greatest = std::max(greatest, static_cast<double>(*useful));
    ideal_end = std::max(ideal_end, rank.t_begin_ns + rank.ideal_ns);
    begin = std::min(begin, rank.t_begin_ns);
    end = std::max(end, rank.t_end_ns);
  }
  Efficiencies e;
  if (run.rank_times.empty() || end <= begin) return e;
  const auto runtime = static_cast<double>(end - begin);
  const double ideal = static_cast<double>(ideal_end) - static_cast<double>(begin);
  const double mean = sum / static_cast<double>(run.rank_times.size());
  e.parallel = ratio(mean, runtime);
  e.load_balance = ratio(mean, greatest);
  e.communication = ratio(greatest, runtime);
  e.serialisation = ratio(greatest, ideal);
  e.transfer = ratio(ideal, runtime);
  return e;
}

void write_waits(std::ostream& out, const RowSource& source, const WaitsFilter& filter,
                 const WaitsOptions& options) {
  const Table waits = waits_table(source, filter, options);
  switch (options.format) {
    case Format::table:
      return write_text_waits(out, source, waits, chooses(filter), options);
    case Format::json:
      return write_json_waits(out, source.run(), waits);
    case Format::csv:
      return write_csv(out, waits);
    case Format::ndjson:
      return write_ndjson(out, waits, false);
  }
}

}  // namespace uctrace
