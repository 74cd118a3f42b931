#include "log-merger/simulate/simulate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/simulate/simulation.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

namespace {

using nlohmann::ordered_json;

std::uint64_t time_of(std::int64_t ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns));
}

std::string words_of(std::int64_t ns) { return format_duration(time_of(ns)); }

// By how much of the first the second one is more; 0 of nothing.
double change_percent(std::int64_t from_ns, std::int64_t to_ns) {
  if (from_ns <= 0) return 0;
  return 100.0 * static_cast<double>(to_ns - from_ns) / static_cast<double>(from_ns);
}

Table ranks_table(const Run& run, const Simulation& simulation) {
  Table table{.key = "ranks",
              .title = "Each rank, from the start of MPI to its end",
              .columns = {{"rank", "rank"},
                          {"measured_ns", "measured", Unit::nanoseconds},
                          {"replay_ns", "replay as it was", Unit::nanoseconds},
                          {"predicted_ns", "predicted", Unit::nanoseconds},
                          {"change_percent", "change", Unit::percent},
                          {"compute_ns", "outside MPI", Unit::nanoseconds},
                          {"predicted_compute_ns", "predicted", Unit::nanoseconds},
                          {"mpi_ns", "in MPI", Unit::nanoseconds},
                          {"predicted_mpi_ns", "predicted", Unit::nanoseconds}},
              .rows = {}};
  const Labels labels(run);
  for (const SimulatedRank& rank : simulation.ranks) {
    const auto of_one_thread = [&](std::int64_t ns) {
      return rank.computing_ns < 0 ? Cell{} : Cell{time_of(ns)};
    };
    table.rows.push_back(
        {labels.of_processes()[rank.process], time_of(rank.measured_ns), time_of(rank.replay_ns),
         time_of(rank.predicted_ns), change_percent(rank.replay_ns, rank.predicted_ns),
         of_one_thread(rank.computing_ns), of_one_thread(rank.predicted_computing_ns),
         of_one_thread(rank.replay_ns - rank.computing_ns),
         of_one_thread(rank.predicted_ns - rank.predicted_computing_ns)});
  }
  return table;
}

Table not_replayed_table(const Simulation& simulation) {
  Table table{.key = "not_replayed",
              .title = "What keeps its measured time",
              .columns = {{"what", "what"},
                          {"count", "count", Unit::count},
                          {"time_ns", "time, all ranks", Unit::nanoseconds}},
              .rows = {}};
  for (const NotReplayed& row : simulation.not_replayed) {
    table.rows.push_back({row.what, row.count, row.ns < 0 ? Cell{} : Cell{time_of(row.ns)}});
  }
  return table;
}

std::string verdict(const Simulation& simulation) {
  if (simulation.hypotheses.empty()) {
    return "no hypothesis was given, so the run is replayed as it was; uctrace help simulate names "
           "them";
  }
  const double percent = change_percent(simulation.replay_ns, simulation.predicted_ns);
  return fmt::format("predicted: {}, {:.1f} % {} than the {} of the replay as it was",
                     words_of(simulation.predicted_ns), std::abs(percent),
                     percent > 0 ? "more" : "less", words_of(simulation.replay_ns));
}

void write_lines(std::ostream& out, const char* title, const std::vector<std::string>& lines,
                 Colour colour) {
  if (lines.empty()) return;
  out << heading(title, colour) << '\n';
  for (const std::string& line : lines) out << "  " << line << '\n';
  out << '\n';
}

void write_text_of(std::ostream& out, const Run& run, const Simulation& simulation,
                   const Table& ranks, const SimulateOptions& options) {
  const Colour colour = options.colour;
  out << verdict(simulation) << '\n';
  write_run_line(out, run);
  out << fmt::format(
      "# replay of the run as it was: {}, measured {}, differs {:.2f} %\n"
      "# {} calls and {} dependencies between them were replayed\n\n",
      words_of(simulation.replay_ns), words_of(simulation.measured_ns),
      change_percent(simulation.measured_ns, simulation.replay_ns), simulation.calls,
      simulation.dependencies);
  write_lines(out, "Hypotheses", simulation.hypotheses, colour);
  write_lines(out, "Assumptions", simulation.assumptions, colour);
  write_text(out, ranks, colour, options.width);
  const Table gaps = not_replayed_table(simulation);
  if (!gaps.rows.empty()) {
    out << '\n';
    write_text(out, gaps, colour, options.width);
  }
  out << '\n';
  for (const std::string& note : run.notes) out << "# note: " << note << '\n';
}

void write_json_of(std::ostream& out, const Run& run, const Simulation& simulation,
                   const Table& ranks) {
  const ordered_json json = {
      {"schema", kInfoSchema},
      {"run", run.run_id},
      {"measured_ns", simulation.measured_ns},
      {"replay_ns", simulation.replay_ns},
      {"replay_difference_percent", change_percent(simulation.measured_ns, simulation.replay_ns)},
      {"predicted_ns", simulation.predicted_ns},
      {"change_percent", change_percent(simulation.replay_ns, simulation.predicted_ns)},
      {"calls", simulation.calls},
      {"dependencies", simulation.dependencies},
      {"hypotheses", simulation.hypotheses},
      {"assumptions", simulation.assumptions},
      {"not_replayed", to_json(not_replayed_table(simulation))},
      {"ranks", to_json(ranks)},
      {"notes", run.notes}};
  out << dump(json, 2) << '\n';
}

}  // namespace

void write_simulation(std::ostream& out, const RowSource& source, const Hypotheses& hypotheses,
                      const SimulateOptions& options) {
  const Run& run = source.run();
  const Simulation simulation = simulate(source, hypotheses);
  Table ranks = ranks_table(run, simulation);
  if (options.limit) ranks.keep_first(*options.limit);
  switch (options.format) {
    case Format::table:
      return write_text_of(out, run, simulation, ranks, options);
    case Format::json:
      return write_json_of(out, run, simulation, ranks);
    case Format::csv:
      return write_csv(out, ranks);
    case Format::ndjson:
      return write_ndjson(out, ranks, false);
  }
}

}  // namespace uctrace
