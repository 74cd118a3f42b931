#include "log-merger/live/top_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "event-log/reader/counter_matrix.hpp"
#include "log-merger/live/rates.hpp"
#include "log-merger/model/json_text.hpp"

namespace uctrace::live {
namespace {

constexpr int kTopSchema = 1;
std::size_t how_many(const Reading& reading, ProcessState state) {
  return static_cast<std::size_t>(
      std::count_if(reading.processes.begin(), reading.processes.end(),
                    [state](const LiveProcess& process) { return process.state == state; }));
}

bool has_copies(const Reading& reading) {
  return std::any_of(reading.processes.begin(), reading.processes.end(),
                     [](const LiveProcess& process) { return process.is_copy; });
}

std::vector<Table> tables_of(const Reading& reading, const TopOptions& options) {
  std::vector<Table> tables;
  for (const CountersBy by : kTopViews) {
    if (options.by != CountersBy::all && options.by != by) continue;
    tables.push_back(rates_table(reading, by, options.sort));
    if (options.limit) tables.back().keep_first(*options.limit);
  }
  return tables;
}

nlohmann::ordered_json jobs_json(const Shown& shown) {
  auto list = nlohmann::ordered_json::array();
  for (const Reading* job : shown.jobs.jobs()) {
    list.push_back({{"job", job->job()},
                    {"processes", job->processes.size()},
                    {"counting", how_many(*job, ProcessState::counting)},
                    {"ended", !job->counts()},
                    {"shown", job == &shown.reading}});
  }
  return list;
}

void write_json(std::ostream& out, const Shown& shown, const std::vector<Table>& tables) {
  const Reading& reading = shown.reading;
  nlohmann::ordered_json json;
  json["schema"] = kTopSchema;
  json["run"] = {{"folder", shown.folder},
                 {"job", reading.job()},
                 {"processes", reading.processes.size()},
                 {"counting", how_many(reading, ProcessState::counting)},
                 {"missing_ranks", log::missing_ranks(reading.now).missing},
                 {"ended", !reading.counts()}};
  json["jobs"] = jobs_json(shown);
  json["interval_s"] = reading.seconds;
  json["units"] = {{"interval_s", "s"},         {"messages_per_s", "1/s"},
                   {"operations_per_s", "1/s"}, {"calls_per_s", "1/s"},
                   {"bytes_per_s", "B/s"},      {"bytes", "B"},
                   {"from_bytes", "B"},         {"lag_s", "s"}};
  json["unread"] = shown.jobs.unread();
  for (const Table& table : tables) json[table.key] = to_json(table);
  out << dump(json, 2) << '\n';
}

}  // namespace

std::string summary(const Shown& shown) {
  const Reading& reading = shown.reading;
  const std::size_t all = reading.processes.size();
  std::string text = fmt::format("{}: {} process{}", shown.folder, all, all == 1 ? "" : "es");
  for (const ProcessState state : kProcessStates) {
    const std::size_t count = how_many(reading, state);
    if (count != 0) text += fmt::format(", {} {}", count, name_of(state));
  }
  if (reading.seconds > 0) text += fmt::format("; rates of {:.1f} s", reading.seconds);
  text += '\n';
  if (!reading.counts()) text += "the job has ended: rates are 0, totals are its last\n";
  if (const log::MissingRanks ranks = log::missing_ranks(reading.now); ranks.missing != 0) {
    text += fmt::format("counters of {} of {} ranks are missing\n", ranks.missing, ranks.all);
  }
  if (has_copies(reading)) {
    text += "files of processes that write over a network are copies: they lag up to 1 s\n";
  }
  for (const Reading* job : shown.jobs.jobs()) {
    if (job == &reading || !job->counts()) continue;
    text += fmt::format("job {} counts, too: --job shows it\n", job->job());
  }
  return text;
}

void write_top(std::ostream& out, const Shown& shown, const TopOptions& options) {
  const std::vector<Table> tables = tables_of(shown.reading, options);
  if (options.format == Format::json) {
    write_json(out, shown, tables);
    return;
  }
  if (options.format == Format::table) out << summary(shown);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (options.format == Format::ndjson) {
      write_ndjson(out, tables[i], tables.size() > 1);
    } else if (options.format == Format::csv) {
      out << (i > 0 ? "\n" : "");
      write_csv(out, tables[i]);
    } else {
      out << '\n';
      write_text(out, tables[i], options.colour, options.width);
    }
  }
}

}  // namespace uctrace::live
