#include "log-merger/reports/hang_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event-log/reader/error.hpp"
#include "log-merger/model/number_runs.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/summaries/info_members.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;
using summaries::member;

constexpr const char* kLists[] = {"ranks",      "cycle",      "cycles",
                                  "blocked_on", "mismatched", "nearest_unmatched"};

// A run stored by a build without this verb lacks it, and its logs may be gone.
ordered_json hang_of(const Run& run) {
  ordered_json hang = member(summaries::parsed_info(run), "hang");
  if (hang.is_object()) return hang;
  throw Error({.what = "uctrace hang",
               .why = "this run was merged by an uctrace that did not look for hangs, and its logs "
                      "are gone",
               .to_do = "merge the logs again, where they still are"});
}

void cut(ordered_json& list, std::size_t limit) {
  if (list.is_array() && list.size() > limit) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  }
}

Cell cell_of(const ordered_json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  return dump(value);
}

std::string joined_texts(const ordered_json& waits, bool any) {
  std::string text;
  for (const ordered_json& wait : waits) {
    if (!text.empty()) text += any ? "; or " : "; ";
    text += wait.at("text").get<std::string>();
    if (!wait.at("unsure").is_null()) text += " (?)";
  }
  return text;
}

// Runs stored by earlier builds lack it.
bool is_silent(const ordered_json& row) { return row.value("silent", false); }

// Why a thread has no named waits.
std::string without_waits(const ordered_json& row) {
  for (const char* key : {"unknown", "on_its_way"}) {
    if (row.at(key).is_string()) return row.at(key).get<std::string>();
  }
  if (row.at("gone").get<bool>() || row.at("exit") == "aborted") return "";
  if (is_silent(row)) return "its log says nothing new: it is stopped, or its host does not answer";
  const bool is_known = row.at("settled").get<bool>() || row.at("for_ns").is_null();
  return is_known ? "" : "it came there just now";
}

std::string waits_text(const ordered_json& row) {
  const std::string waits = joined_texts(row.at("waits_for"), row.at("any").get<bool>());
  return waits.empty() ? without_waits(row) : waits;
}

Cell optional_text(const ordered_json& row, const char* key) { return cell_of(row.at(key)); }

std::string seat_text(const ordered_json& row) {
  if (row.at("gone").get<bool>()) return row.at("exit").get<std::string>();
  if (row.at("polls").get<std::uint64_t>() > 0) {
    return row.at("call").get<std::string>() + " in a loop";
  }
  if (row.at("call").is_string()) return row.at("call").get<std::string>();
  return row.at("last_call").is_string()
             ? fmt::format("no MPI call, after {}", row.at("last_call").get<std::string>())
             : "no MPI call";
}

struct Seat {
  std::vector<std::int64_t> ranks;
  std::optional<std::uint64_t> since_ns, for_ns;
};

// For a person: ranks that sit in one place and wait for the same share a row.
Table seats_table(const ordered_json& ranks) {
  Table table{.key = "ranks",
              .title = "Ranks",
              .columns = {{"rank", "rank"},
                          {"call", "sits in"},
                          {"call_site", "call site"},
                          {"since_ns", "since", Unit::nanoseconds},
                          {"for_ns", "for", Unit::nanoseconds},
                          {"waits_for", "waits for"}},
              .rows = {}};
  std::vector<std::vector<std::string>> order;
  std::map<std::vector<std::string>, Seat> seats;
  const auto text_of = [](const ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  for (const ordered_json& row : ranks) {
    const char* const site = row.at("call").is_null() ? "last_call_site" : "call_site";
    std::vector<std::string> key = {seat_text(row), text_of(row.at(site)), waits_text(row)};
    const auto [at, fresh] = seats.try_emplace(key);
    if (fresh) order.push_back(key);
    Seat& seat = at->second;
    seat.ranks.push_back(row.at("rank").get<std::int64_t>());
    if (row.at("since_ns").is_number()) {
      const auto since_ns = row.at("since_ns").get<std::uint64_t>();
      seat.since_ns = std::min(seat.since_ns.value_or(since_ns), since_ns);
    }
    if (row.at("for_ns").is_number()) {
      seat.for_ns = std::max(seat.for_ns.value_or(0), row.at("for_ns").get<std::uint64_t>());
    }
  }
  const auto text_or_none = [](const std::string& text) { return text.empty() ? Cell{} : text; };
  for (const std::vector<std::string>& key : order) {
    const Seat& seat = seats.at(key);
    const auto cell = [](const auto& ns) { return ns ? Cell{*ns} : Cell{}; };
    table.rows.push_back({number_runs(seat.ranks), key[0], text_or_none(key[1]),
                          cell(seat.since_ns), cell(seat.for_ns), text_or_none(key[2])});
  }
  return table;
}

// For a program: a row for each thread that sits somewhere.
Table ranks_table(const ordered_json& ranks) {
  Table table{.key = "ranks", .title = "Ranks", .columns = {}, .rows = {}};
  constexpr const char* kKeys[] = {"rank",       "call",     "call_site", "peer",
                                   "tag",        "since_ns", "for_ns",    "comm",
                                   "in_no_call", "polls",    "last_call", "last_call_site",
                                   "stuck",      "gone",     "settled",   "exit",
                                   "world",      "thread",   "host",      "pid"};
  for (const char* key : kKeys) table.columns.push_back({key, key});
  table.columns.push_back({"waits_for", "waits_for"});
  for (const ordered_json& row : ranks) {
    auto& cells = table.rows.emplace_back();
    for (const char* key : kKeys) cells.push_back(optional_text(row, key));
    cells.push_back(waits_text(row));
  }
  return table;
}

class TextWriter {
 public:
  TextWriter(std::ostream& out, const ordered_json& hang, const HangOptions& options)
      : out_(out), hang_(hang), options_(options) {}

  void write() {
    out_ << fmt::format("job      {}\nverdict  {}\n", text("state"), text("verdict"));
    for (const ordered_json& line : hang_.at("summary")) {
      out_ << "         " << line.get<std::string>() << '\n';
    }
    if (text("verdict") == "ended") return;
    out_ << '\n';
    Table seats = seats_table(hang_.at("ranks"));
    if (options_.limit) seats.keep_first(*options_.limit);
    write_text(out_, seats, options_.colour, options_.width);
    lines("Cycle", hang_.at("cycle"), [](const ordered_json& step) {
      const std::string site =
          step.at("call_site").is_null() ? "" : " at " + step.at("call_site").get<std::string>();
      return fmt::format(
          "rank {} in {}{} waits for {}{}", step.at("rank").get<int>(),
          step.at("call").get<std::string>(), site, step.at("text").get<std::string>(),
          step.at("unsure").is_null()
              ? ""
              : fmt::format(" (not sure: {})", step.at("unsure").get<std::string>()));
    });
    const auto plain = [](const ordered_json& row) { return row.at("text").get<std::string>(); };
    lines("Collective calls that differ", hang_.at("mismatched"), plain);
    lines("Nearest unmatched sends", hang_.at("nearest_unmatched"), plain);
    lines("Not known", hang_.at("unknown"),
          [](const ordered_json& row) { return row.get<std::string>(); });
    say_how_to_get_lines();
  }

 private:
  std::string text(const char* key) const { return hang_.at(key).get<std::string>(); }

  template <typename ToText>
  void lines(const char* title, const ordered_json& list, ToText to_text) {
    if (list.empty()) return;
    out_ << '\n' << heading(title, options_.colour) << '\n';
    const std::size_t shown = std::min(list.size(), options_.limit.value_or(list.size()));
    for (std::size_t i = 0; i < shown; ++i) out_ << to_text(list[i]) << '\n';
    if (shown < list.size()) out_ << fmt::format("({} more rows)\n", list.size() - shown);
  }

  // Logs of earlier builds lack the callers of open calls.
  void say_how_to_get_lines() {
    const ordered_json& ranks = hang_.at("ranks");
    const bool lacks = std::any_of(ranks.begin(), ranks.end(), [](const ordered_json& row) {
      return row.at("call").is_string() && row.at("call_site").is_null();
    });
    if (lacks) {
      out_ << "# note: where a call was called from is not known of all ranks; who called MPI may "
              "be "
              "a library's binding: `uctrace record --stacks mpi` keeps the whole stacks of calls "
              "that return\n";
    }
  }

  std::ostream& out_;
  const ordered_json& hang_;
  const HangOptions& options_;
};

}  // namespace

void write_hang(std::ostream& out, const Run& run, const HangOptions& options) {
  ordered_json hang = hang_of(run);
  if (options.format == Format::table) return TextWriter(out, hang, options).write();
  if (options.limit) {
    for (const char* list : kLists) cut(hang[list], *options.limit);
    cut(hang["unknown"], *options.limit);
  }
  if (options.format == Format::csv) return write_csv(out, ranks_table(hang.at("ranks")));
  if (options.format == Format::json) {
    ordered_json document = {{"schema", kHangSchema}, {"run", run.run_id}};
    document.update(hang);
    out << dump(document, 2) << '\n';
    return;
  }
  for (const char* list : kLists) {
    if (std::string(list) == "cycles") continue;  // the first one is `cycle`
    for (const ordered_json& row : hang.at(list)) {
      ordered_json line = {{"table", list}};
      line.update(row);
      out << dump(line) << '\n';
    }
  }
}

}  // namespace uctrace
