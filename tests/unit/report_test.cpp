// Tables, filters, ids and the page's data compared with naively computed sums.
#include "log-merger/reports/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <tuple>

#include "event-log/reader/error.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/page_tables.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;
// The meaning of a filter, spelled out: nothing here is shared with the code under test.
struct Oracle {
  const Run& run;
  const FilterSpec& spec;

  static bool in(const std::vector<std::string>& asked, const std::string& value) {
    return asked.empty() ||
           std::find(asked.begin(), asked.end(), value.empty() ? "unknown" : value) != asked.end();
  }
  static std::string rank(std::int32_t rank) { return rank < 0 ? "" : std::to_string(rank); }
  std::string host(std::int32_t process) const {
    return process < 0 ? "nowhere" : run.texts[run.processes.at(process).host];
  }
  bool takes(const Message& m) const {
    return in(spec.kind, name_of(m.kind)) && in(spec.mpi, run.texts[m.mpi]) &&
           in(spec.comm, run.texts[m.comm]) && in(spec.protocol, run.texts[m.protocol]) &&
           in(spec.src, rank(m.src)) && in(spec.dst, rank(m.dst)) &&
           in(spec.src_host, host(m.src_process)) && in(spec.dst_host, host(m.dst_process)) &&
           (in(spec.host, host(m.src_process)) || in(spec.host, host(m.dst_process))) &&
           (!spec.min_bytes || m.bytes >= *spec.min_bytes) &&
           (!spec.max_bytes || m.bytes <= *spec.max_bytes);
  }
  bool takes(const Hop& hop) const {
    return in(spec.transport, run.texts[hop.transport]) && in(spec.op, run.texts[hop.op]) &&
           in(spec.role, name_of(hop.role));
  }
  bool selects(const Message& m) const {
    bool any = spec.transport.empty() && spec.op.empty() && spec.role.empty();
    for (std::uint32_t i = 0; i < m.hops; ++i) any = any || takes(run.hops[m.first_hop + i]);
    return takes(m) && any;
  }
};

std::vector<FilterSpec> some_specs() {
  std::vector<FilterSpec> specs(11);
  specs[1].mpi = {"MPI_Send", "unknown"};
  specs[2].comm = {"split"};
  specs[2].src = {"0", "2"};
  specs[3].transport = {"cma"};
  specs[4].op = {"am_bcopy", "am_short"};
  specs[4].transport = {"tcp", "posix"};
  specs[5].role = {"data"};
  specs[5].dst = {"1", "unknown"};
  specs[6].host = {"odd"};
  specs[7].min_bytes = 1000;
  specs[7].max_bytes = 500000;
  specs[8].protocol = {"rndv/get"};
  specs[8].op = {"get_zcopy"};
  specs[8].role = {"data", "control"};
  specs[9].kind = {"put", "atomic"};
  specs[10].src_host = {"odd"};
  specs[10].dst_host = {"even", "odd"};
  return specs;
}

void for_each_case(const std::function<void(const Run&, const FilterSpec&)>& check) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Run run = random_run(seed);
    for (const FilterSpec& spec : some_specs()) check(run, spec);
    lay_out_sums(run);
    for (const FilterSpec& spec : some_specs()) check(run, spec);
  }
}

TEST_SUITE("unit") {
  TEST_CASE("contenders are the sums over the hops of the chosen messages") {
    for_each_case([](const Run& run, const FilterSpec& spec) {
      const Oracle oracle{run, spec};
      std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>> expected;
      for (const Message& message : run.messages) {
        for (std::uint32_t i = 0; i < message.hops; ++i) {
          const Hop& hop = run.hops[message.first_hop + i];
          if (!oracle.takes(message) || !oracle.takes(hop)) continue;
          auto& sum = expected[{run.texts[hop.transport], run.texts[hop.op]}];
          sum.resize(3);
          sum[0] += hop.count;
          sum[1] += hop.payload_bytes;
          sum[2] += hop.wire_bytes;
        }
      }
      decltype(expected) found;
      const TrafficTotals totals = traffic_totals(run, Filter(run, spec), ReportBy::all);
      for (const Contender& row : totals.contenders) {
        found[{run.texts[row.transport], run.texts[row.op]}] = {row.transfers, row.bytes,
                                                                row.wire_bytes};
      }
      CHECK(found == expected);
    });
  }

  TEST_CASE("transfers without a message are counted on demand, unless a message is asked for") {
    const Run run = random_run(3);
    const auto transfers = [&](const FilterSpec& spec, WithoutMessage rest) {
      std::uint64_t sum = 0;
      const TrafficTotals totals =
          traffic_totals(run, Filter(run, spec), ReportBy::contenders, rest);
      for (const Contender& row : totals.contenders) sum += row.transfers;
      return sum;
    };
    FilterSpec of_function;
    of_function.mpi = {"MPI_Send"};
    CHECK(transfers({}, WithoutMessage::counted) ==
          transfers({}, WithoutMessage::left_out) + run.transfers.size());
    CHECK(transfers(of_function, WithoutMessage::counted) ==
          transfers(of_function, WithoutMessage::left_out));
  }

  TEST_CASE("functions and pairs are the sums over the selected messages") {
    for_each_case([](const Run& run, const FilterSpec& spec) {
      const Oracle oracle{run, spec};
      std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> functions;
      std::map<std::pair<int, int>, std::pair<std::uint64_t, std::uint64_t>> pairs;
      for (const Message& message : run.messages) {
        if (!oracle.selects(message)) continue;
        for (auto* sum : {&functions[run.texts[message.mpi]], &pairs[{message.src, message.dst}]}) {
          ++sum->first;
          sum->second += message.bytes;
        }
      }
      const Filter filter(run, spec);
      decltype(functions) found_functions;
      for (const FunctionTotal& row : traffic_totals(run, filter, ReportBy::mpi).functions) {
        if (row.messages == 0) continue;
        found_functions[run.texts[row.function]] = {row.messages, row.bytes};
      }
      decltype(pairs) found_pairs;
      for (const PairTotal& row : traffic_totals(run, filter, ReportBy::pairs).pairs) {
        found_pairs[{row.source.rank, row.destination.rank}] = {row.messages, row.bytes};
      }
      CHECK(found_functions == functions);
      CHECK(found_pairs == pairs);
    });
  }

  TEST_CASE("calls follow functions and communicators, and are unknown for the rest") {
    const Run run = random_run(4);
    FilterSpec spec;
    spec.comm = {"split"};
    std::uint64_t expected = 0, found = 0, expected_bytes = 0, found_bytes = 0;
    for (const MpiCallRow& call : run.mpi_calls) {
      if (run.texts[call.comm] == "split") {
        expected += static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns);
        expected_bytes += call.bytes + call.recv_bytes;
      }
    }
    const TrafficTotals totals = traffic_totals(run, Filter(run, spec), ReportBy::mpi);
    for (const FunctionTotal& row : totals.functions) {
      found += row.time_ns.value_or(0);
      found_bytes += row.asked_bytes.value_or(0);
      for (const TextId comm : row.comms) CHECK(run.texts[comm] == "split");
      CHECK(row.comms.empty() != row.calls.has_value());
    }
    CHECK(found == expected);
    CHECK(found_bytes == expected_bytes);
    spec.transport = {"tcp"};
    const TrafficTotals over_tcp = traffic_totals(run, Filter(run, spec), ReportBy::mpi);
    for (const FunctionTotal& row : over_tcp.functions) {
      CHECK(!row.time_ns);
      CHECK(!row.asked_bytes);
    }
  }

  TEST_CASE("an unknown value of a filter is refused with the known ones") {
    const Run run = random_run(1);
    FilterSpec spec;
    spec.transport = {"tpc"};
    CHECK_THROWS_WITH_AS(Filter(run, spec),
                         doctest::Contains("this run has cma, posix, tcp; did you mean 'tcp'?"),
                         Error);
    spec = {};
    spec.role = {"dta"};
    CHECK_THROWS_WITH_AS(Filter(run, spec), doctest::Contains("control, data, staging"), Error);
  }

  TEST_CASE("the page's cells hold every message and transfer exactly once") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Run run = random_run(seed);
      const ordered_json data = page_data(run);
      using Key = std::tuple<int, int, ordered_json>;
      std::map<Key, std::pair<std::uint64_t, std::uint64_t>> expected, found;
      std::uint64_t wire_bytes = 0, count = 0;
      for (const Message& message : run.messages) {
        const ordered_json mpi =
            message.mpi == kNoText ? ordered_json() : ordered_json(run.texts[message.mpi]);
        auto& sum = expected[{message.src_process, message.dst_process, mpi}];
        ++sum.first;
        sum.second += message.bytes;
      }
      for (const Hop& hop : run.hops) {
        wire_bytes += hop.wire_bytes;
        count += hop.count;
      }
      for (const Transfer& transfer : run.transfers) wire_bytes += transfer.wire_bytes;
      for (const ordered_json& cell : cells_of(data)) {
        const ordered_json& traffic_class = data["classes"][cell["class"].get<std::size_t>()];
        REQUIRE(traffic_class["path"].size() == cell["transfers"].size());
        CHECK(traffic_class["reason"].is_null() == (cell["messages"] != 0));
        CHECK(traffic_class["match"].is_null() == (cell["messages"] == 0));
        for (const ordered_json& transfer : cell["transfers"]) {
          wire_bytes -= transfer["wire_bytes"].get<std::uint64_t>();
          count -= transfer["count"].get<std::uint64_t>();
        }
        if (cell["messages"] == 0) continue;
        auto& sum = found[{cell["src"], cell["dst"], traffic_class["mpi"]}];
        sum.first += cell["messages"].get<std::uint64_t>();
        sum.second += cell["bytes"].get<std::uint64_t>();
      }
      CHECK(found == expected);
      CHECK(wire_bytes == 0);
      CHECK(count + run.transfers.size() == 0);
    }
  }

  TEST_CASE("data cannot end or reopen the page's script element") {
    const std::string page =
        "<html><script>f('uctrace-data')</script>"
        "<script type=\"application/json\" id=\"uctrace-data\">old</script>"
        "<script type=\"application/json\" id=\"uctrace-packed\"></script></html>";
    const ordered_json packed = {{"tables", {{{"name", "</script><b>"}}}}};
    const ordered_json data = {{"command", "</script><!--<script id=\"uctrace-packed\">"},
                               {"packed", packed}};
    const std::string filled = insert_page_data(page, data);
    const auto content = [&filled](const std::string& mark) {
      const std::size_t begin = filled.find(mark) + mark.size();
      return filled.substr(begin, filled.find("</script>", begin) - begin);
    };
    const std::string json = content("uctrace-data\">"), tables = content("id=\"uctrace-packed\">");
    CHECK(ordered_json::parse(json) == ordered_json{{"command", data["command"]}});
    CHECK(ordered_json::parse(tables) == packed);
    for (const std::string& text : {json, tables}) {
      for (const char* tag : {"</", "<!--", "<script"}) CHECK(text.find(tag) == std::string::npos);
    }
    CHECK_THROWS_AS(insert_page_data("<html></html>", data), Error);
    CHECK_THROWS_AS(insert_page_data(page.substr(0, page.find("uctrace-packed")), data), Error);
  }

  TEST_CASE("ids of messages do not depend on the selection or the format") {
    const Run run = random_run(2);
    FilterSpec spec;
    spec.transport = {"tcp"};
    std::vector<MessageId> ids;
    for (MessageId id = 0; id < run.messages.size(); ++id) {
      if (Oracle{run, spec}.selects(run.messages[id])) ids.push_back(id);
    }
    const Filter filter(run, spec);
    std::ostringstream json, lines;
    write_messages(json, run, filter, {.format = Format::json, .limit = 3});
    write_messages(lines, run, filter, {.format = Format::ndjson});
    const ordered_json whole = ordered_json::parse(json.str());
    CHECK(whole["schema"] == kInfoSchema);
    CHECK(whole["run"] == run.run_id);
    const ordered_json all = whole["messages"];
    REQUIRE(all.size() == 3);
    std::istringstream stream(lines.str());
    std::size_t at = 0;
    for (std::string line; std::getline(stream, line); ++at) {
      const ordered_json message = ordered_json::parse(line);
      CHECK(message["id"] == ids.at(at));
      if (at < all.size()) CHECK(message == all[at]);
    }
    CHECK(at == ids.size());
  }
}

}  // namespace
}  // namespace uctrace
