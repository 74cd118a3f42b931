#include "log-merger/diff/diff_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "log-merger/model/quantities.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace::diff {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownChanges = 20;

std::string what_of(const Subject& subject) {
  const std::string head = subject.name.empty() ? subject.of : subject.of + " " + subject.name;
  return head + ": " + subject.measure;
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

std::string value_text(double value, DiffUnit unit) {
  switch (unit) {
    case DiffUnit::bytes:
      return format_bytes(rounded(value));
    case DiffUnit::nanoseconds:
      return format_duration(rounded(value));
    case DiffUnit::percent:
      return fmt::format("{:.1f} %", value);
    case DiffUnit::count:
      return value == std::floor(value) ? fmt::format("{:.0f}", value)
                                        : fmt::format("{:.1f}", value);
  }
  return "";
}

std::string each_text(const std::optional<Change::Each>& each) {
  return each ? format_duration(rounded(each->middle_ns)) : "-";
}

Table change_table(const char* title, const std::vector<Change>& changes, bool with_verdict) {
  Table table{.key = "changes",
              .title = title,
              .columns = {{"what", "what"},
                          {"a", "A", Unit::count},
                          {"b", "B", Unit::count},
                          {"share", "share %", Unit::count},
                          {"each_a", "each, A", Unit::count, true},
                          {"each_b", "each, B", Unit::count, true}},
              .rows = {}};
  if (with_verdict) table.columns.push_back({"verdict", "verdict"});
  for (const Change& change : changes) {
    auto& row = table.rows.emplace_back(std::vector<Cell>{
        what_of(change.subject), value_text(change.a, change.unit),
        value_text(change.b, change.unit), fmt::format("{:.1f}", 100 * change.share),
        each_text(change.each_a), each_text(change.each_b)});
    if (with_verdict) row.emplace_back(name_of(change.verdict));
  }
  return table;
}

Cell cell_of(const std::optional<std::string>& value) { return value ? Cell{*value} : Cell{}; }

Table settings_table(const Diff& diff) {
  Table table{.key = "settings",
              .title = "Settings that differ",
              .columns = {{"name", "setting"}, {"a", "A"}, {"b", "B"}, {"ranks", "ranks"}},
              .rows = {}};
  for (const SettingDifference& setting : diff.settings) {
    table.rows.push_back({setting.name, cell_of(setting.a), cell_of(setting.b),
                          setting.ranks.empty() ? Cell{} : Cell{setting.ranks}});
  }
  return table;
}

// The differing words of two long texts, such as command lines.
std::vector<std::string> counts_line(const Diff& diff) {
  std::map<ChangeVerdict, std::size_t> counts;
  for (const Change& change : diff.others) ++counts[change.verdict];
  return {
      fmt::format("# {} numbers differ by noise, {} by less than 1 %, of {} too few calls are "
                  "known; {} are equal",
                  counts[ChangeVerdict::noise], counts[ChangeVerdict::small],
                  counts[ChangeVerdict::not_told], diff.equal)};
}

void write_text_diff(std::ostream& out, const ComparedRuns& runs, const Diff& diff,
                     const DiffOptions& options) {
  out << (diff.changes.empty()
              ? std::string("no change beyond noise\n")
              : fmt::format("{} changes beyond noise; most: {}\n", diff.changes.size(),
                            what_of(diff.changes.front().subject)));
  out << fmt::format("# A: {}, {} ranks: {}\n", runs.name_a, runs.a.ranks, runs.a.command);
  out << fmt::format("# B: {}, {} ranks: {}\n\n", runs.name_b, runs.b.ranks, runs.b.command);
  write_text(out, settings_table(diff), options.colour, options.width);
  out << '\n';
  Table changes = change_table("What changed, the most first", diff.changes, false);
  changes.keep_first(options.limit.value_or(options.all ? changes.rows.size() : kShownChanges));
  write_text(out, changes, options.colour, options.width);
  out << '\n';
  if (options.all) {
    Table others = change_table("What differs, and is no change", diff.others, true);
    if (options.limit) others.keep_first(*options.limit);
    write_text(out, others, options.colour, options.width);
    out << '\n';
  }
  for (const std::string& line : counts_line(diff)) {
    out << line << (options.all ? "" : "; --all lists them") << '\n';
  }
  out << "# share: of all time, payload, messages or calls. Times are called changed where the "
         "middle halves of both runs do not meet: a heuristic, docs/diff.md\n";
  for (const std::string& note : diff.notes) out << "# note: " << note << '\n';
}

// --- for programs

ordered_json number_json(double value) {
  if (value == std::floor(value)) return rounded(value);
  return value;
}

ordered_json each_json(const std::optional<Change::Each>& each) {
  if (!each) return nullptr;
  return {{"quarter_ns", rounded(each->low_ns)},
          {"median_ns", rounded(each->middle_ns)},
          {"three_quarters_ns", rounded(each->high_ns)}};
}

ordered_json change_json(const Change& change) {
  return {{"what", what_of(change.subject)},    {"a", number_json(change.a)},
          {"b", number_json(change.b)},         {"share", change.share},
          {"unit", name_of(change.unit)},       {"of", change.subject.of},
          {"name", change.subject.name},        {"measure", change.subject.measure},
          {"verdict", name_of(change.verdict)}, {"each_a", each_json(change.each_a)},
          {"each_b", each_json(change.each_b)}};
}

ordered_json run_json(const RunMeasures& run, const std::string& name) {
  return {{"folder", name},
          {"run", run.run_id},
          {"command", run.command},
          {"ranks", run.ranks},
          {"hosts", run.hosts}};
}

ordered_json total_json(const RunMeasures& run, const ProtocolSize& key) {
  const auto found = run.protocols.find(key);
  if (found == run.protocols.end()) return nullptr;
  const ProtocolSizeTotal& total = found->second;
  const bool timed = total.times.count() != 0;
  const auto quantile = [&](double share) {
    return timed ? ordered_json(total.times.quantile_ns(share)) : ordered_json(nullptr);
  };
  return {{"messages", total.messages},
          {"bytes", total.bytes},
          {"median_ns", quantile(0.5)},
          {"p99_ns", quantile(0.99)}};
}

ordered_json protocols_json(const ComparedRuns& runs) {
  std::map<ProtocolSize, bool> keys;
  for (const auto* run : {&runs.a, &runs.b}) {
    for (const auto& [key, total] : run->protocols) keys.emplace(key, true);
  }
  ordered_json rows = ordered_json::array();
  for (const auto& [key, there] : keys) {
    rows.push_back({{"protocol", key.protocol},
                    {"from_bytes", length_of(key.size)},
                    {"below_bytes", key.size == 0 ? 1 : 2 * length_of(key.size)},
                    {"a", total_json(runs.a, key)},
                    {"b", total_json(runs.b, key)}});
  }
  return rows;
}

ordered_json changes_json(const std::vector<Change>& changes, std::size_t limit) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < std::min(limit, changes.size()); ++i) {
    rows.push_back(change_json(changes[i]));
  }
  return rows;
}

// Changes first, then the rest, by verdict.
void write_rows(std::ostream& out, const Diff& diff, const DiffOptions& options) {
  Table table{.key = "changes",
              .title = "",
              .columns = {{"what", "what"},
                          {"a", "a"},
                          {"b", "b"},
                          {"share", "share"},
                          {"unit", "unit"},
                          {"of", "of"},
                          {"name", "name"},
                          {"measure", "measure"},
                          {"verdict", "verdict"},
                          {"median_a_ns", "median a"},
                          {"median_b_ns", "median b"}},
              .rows = {}};
  const auto number = [](double value) -> Cell {
    return value == std::floor(value) ? Cell{rounded(value)} : Cell{value};
  };
  const auto median = [](const std::optional<Change::Each>& each) {
    return each ? Cell{rounded(each->middle_ns)} : Cell{};
  };
  for (const auto* list : {&diff.changes, &diff.others}) {
    for (const Change& change : *list) {
      table.rows.push_back({what_of(change.subject), number(change.a), number(change.b),
                            change.share, std::string(name_of(change.unit)), change.subject.of,
                            change.subject.name, change.subject.measure,
                            std::string(name_of(change.verdict)), median(change.each_a),
                            median(change.each_b)});
    }
  }
  if (options.limit) table.keep_first(*options.limit);
  options.format == Format::csv ? write_csv(out, table) : write_ndjson(out, table, false);
}

}  // namespace

ordered_json diff_json(const ComparedRuns& runs, const Diff& diff,
                       std::optional<std::size_t> limit) {
  ordered_json json = {{"schema", kInfoSchema},
                       {"run", runs.a.run_id},
                       {"other_run", runs.b.run_id},
                       {"a", run_json(runs.a, runs.name_a)},
                       {"b", run_json(runs.b, runs.name_b)},
                       {"per_rank", !diff.same_ranks}};
  json["settings"] = to_json(settings_table(diff));
  const std::size_t most = limit.value_or(std::max(diff.changes.size(), diff.others.size()));
  json["changes"] = changes_json(diff.changes, most);
  json["others"] = changes_json(diff.others, most);
  json["left_out"] = {{"changes", diff.changes.size() - json["changes"].size()},
                      {"others", diff.others.size() - json["others"].size()}};
  json["equal"] = diff.equal;
  json["protocols"] = protocols_json(runs);
  json["heuristic"] = "times: the middle halves of both runs do not meet";
  json["notes"] = diff.notes;
  return json;
}

void write_diff(std::ostream& out, const ComparedRuns& runs, const Diff& diff,
                const DiffOptions& options) {
  switch (options.format) {
    case Format::table:
      return write_text_diff(out, runs, diff, options);
    case Format::json:
      out << dump(diff_json(runs, diff, options.limit), 2) << '\n';
      return;
    case Format::csv:
    case Format::ndjson:
      return write_rows(out, diff, options);
  }
}

}  // namespace uctrace::diff
