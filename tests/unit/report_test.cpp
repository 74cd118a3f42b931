// Tables, filters, receipts and the page's data against sums that are computed the plain way.
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
#include "tests/unit/message_at.hpp"
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
      for (const ordered_json& cell : data["cells"]) {
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
        "<script type=\"application/json\" id=\"uctrace-data\">old</script></html>";
    const ordered_json data = {{"command", "</script><!--<script>"}};
    const std::string filled = insert_page_data(page, data);
    const std::size_t begin = filled.find("uctrace-data\">") + 14;
    const std::string json = filled.substr(begin, filled.find("</script></html>") - begin);
    CHECK(ordered_json::parse(json) == data);
    CHECK(json.find("</") == std::string::npos);
    CHECK(json.find("<!--") == std::string::npos);
    CHECK_THROWS_AS(insert_page_data("<html></html>", data), Error);
  }

  TEST_CASE("a receipt says which transport carried the message") {
    const Run run = small_run();
    CHECK(receipt(run, Labels(run), message_at(run, 0)) ==
          "#0 rank 0 -> 1, 65536 B (64.0 KiB), tag 7, MPI_Isend on MPI_COMM_WORLD, rndv/get, "
          "83.1 us\n"
          "  path: 1 x am_bcopy over posix/memory, control, 54 B\n"
          "        1 x get_zcopy over cma/memory, 65536 B (64.0 KiB), issued by the receiver\n");
  }

  TEST_CASE("a receipt names what is no tag message, and the sides of a one-sided operation") {
    Run run = small_run();
    Message& message = run.messages[0];
    const auto told = [&] { return receipt(run, Labels(run), message_at(run, 0)); };
    message.has_tag = false;
    message.kind = MessageKind::put;
    CHECK(told().starts_with("#0 rank 0 -> 1, put, 65536 B (64.0 KiB), MPI_"));
    CHECK(told().ends_with(", issued by the destination\n"));
    message.kind = MessageKind::get;
    message.initiator = Side::dst;
    CHECK(told().starts_with("#0 rank 0 -> 1, get, 65536 B"));
    CHECK(told().find("54 B, issued by the source\n") != std::string::npos);
    message.kind = MessageKind::am;
    message.initiator = Side::src;
    CHECK(told().starts_with("#0 rank 0 -> 1, am, 65536 B"));
    CHECK(told().ends_with(", issued by the receiver\n"));
  }

  TEST_CASE("a message as JSON has every key, in order, with null for the unknown") {
    Run run = small_run();
    run.messages.push_back({});
    run.communicators.emplace_back().name = run.texts.intern("s0.1");
    run.messages[0].communicator = 0;
    std::vector<std::string> keys;
    const ordered_json unknown = message_json(run, message_at(run, 1));
    for (const auto& [key, value] : unknown.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"id",
                                           "kind",
                                           "status",
                                           "match",
                                           "src",
                                           "dst",
                                           "initiator",
                                           "src_process",
                                           "dst_process",
                                           "bytes",
                                           "tag",
                                           "ucp_tag",
                                           "comm",
                                           "comm_id",
                                           "mpi",
                                           "mpi_recv",
                                           "call_site",
                                           "recv_call_site",
                                           "protocol",
                                           "protocol_from",
                                           "t_start_ns",
                                           "t_posted_recv_ns",
                                           "t_end_ns",
                                           "t_error_ns",
                                           "wait_ns",
                                           "t_start_from",
                                           "t_posted_recv_from",
                                           "t_end_from",
                                           "src_memory",
                                           "dst_memory",
                                           "src_library",
                                           "dst_library",
                                           "path"});
    for (const char* key : {"src", "dst_process", "tag", "comm", "comm_id", "t_end_ns"}) {
      CHECK(unknown[key].is_null());
    }
    const ordered_json known = message_json(run, message_at(run, 0));
    CHECK(known["ucp_tag"] == "0x700000001");
    CHECK(known["comm_id"] == "s0.1");
    CHECK(known["src_process"] == "key0");
    CHECK(known["path"][1]["issued_by"] == "dst");
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

  TEST_CASE("tables carry units for a person and plain numbers for a program") {
    Table table{.key = "t",
                .title = "Title",
                .columns = {{"name", "name"}, {"bytes", "payload", Unit::bytes}},
                .rows = {{std::string("a,\"b\""), std::uint64_t{1536}}, {Cell{}, Cell{}}}};
    std::ostringstream text, csv;
    write_text(text, table, Colour::off);
    CHECK(text.str() == "Title\nname   payload\na,\"b\"  1.5 KiB\n-            -\n");
    write_csv(csv, table);
    CHECK(csv.str() == "name,bytes\n\"a,\"\"b\"\"\",1536\n,\n");
    CHECK(dump(to_json(table)) ==
          R"([{"name":"a,\"b\"","bytes":1536},{"name":null,"bytes":null}])");
    table.keep_first(1);
    CHECK(table.hidden_rows == 1);
    CHECK(format_bytes(1023) == "1023 B");
    CHECK(format_bytes(std::uint64_t{3} << 40) == "3.0 TiB");
    CHECK(format_duration(83100) == "83.1 us");
    CHECK(dump("\xff") == "\"\ufffd\"");
  }

  TEST_CASE("a narrow table cuts long texts, then leaves columns out, and says so") {
    const Table table{.key = "t",
                      .title = "Title",
                      .columns = {{"site", "call site"},
                                  {"bytes", "payload", Unit::bytes},
                                  {"host", "host", Unit::text, true},
                                  {"calls", "calls", Unit::count}},
                      .rows = {{std::string("exchange_all_halos (solver/halo.c:123)"),
                                std::uint64_t{1536}, std::string("node1"), std::uint64_t{7}}}};
    const auto at = [&](std::size_t width) {
      std::ostringstream text;
      write_text(text, table, Colour::off, width);
      return text.str();
    };
    CHECK(at(kAnyWidth) == at(62));
    CHECK(at(51).find("exchange_all_..ver/halo.c:123)") == std::string::npos);
    CHECK(at(51).find("node1") != std::string::npos);  // the long text is cut to 28
    CHECK(at(50).find("node1") == std::string::npos);  // the spare column goes
    CHECK(at(50).find("(--wide also shows: host)") != std::string::npos);
    CHECK(at(32).find("calls") != std::string::npos);  // cut to 16
    CHECK(at(31).find("(--wide also shows: host, calls)") != std::string::npos);
    for (std::size_t width = 20; width < 70; ++width) {
      std::istringstream lines(at(width));
      for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("(--wide")) CHECK(line.size() <= width);
      }
    }
  }

  TEST_CASE("beginnings of protocols and operations stand for all that begin so") {
    const Run run = random_run(9);
    const auto count = [&](const FilterSpec& spec) {
      const Filter filter(run, spec);
      return std::count_if(run.messages.begin(), run.messages.end(), [&](const Message& message) {
        return filter.selects(message, path_of(run, message));
      });
    };
    const auto of = [&](std::vector<std::string> FilterSpec::*asked, std::vector<std::string> names) {
      FilterSpec spec;
      spec.*asked = std::move(names);
      return count(spec);
    };
    using Spec = FilterSpec;
    CHECK(of(&Spec::protocol, {"rndv"}) == of(&Spec::protocol, {"rndv/get"}));
    CHECK(of(&Spec::protocol, {"rndv"}) > 0);
    CHECK(of(&Spec::op, {"am"}) == of(&Spec::op, {"am_short", "am_bcopy"}));
    CHECK(of(&Spec::op, {"am"}) > of(&Spec::op, {"am_short"}));
    CHECK_THROWS_AS(of(&Spec::op, {"a"}), Error);  // no whole word
    CHECK_THROWS_AS(of(&Spec::protocol, {"rndvv"}), Error);
    CHECK_THROWS_AS(of(&Spec::mpi, {"MPI"}), Error);  // names of other kinds are whole
  }

  TEST_CASE("what can choose nothing is refused") {
    const Run run = random_run(9);
    const auto between = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
      FilterSpec spec;
      spec.from_ns = from_ns;
      spec.to_ns = to_ns;
      const Filter filter(run, spec);
    };
    CHECK_THROWS_AS(between(10, 10), Error);
    CHECK_THROWS_AS(between(11, 10), Error);
    CHECK_NOTHROW(between(9, 10));
    FilterSpec lengths;
    lengths.min_bytes = 2;
    lengths.max_bytes = 1;
    CHECK_THROWS_AS(Filter(run, lengths), Error);
    std::ostringstream out;
    FilterSpec of_messages;
    of_messages.transport = {"tcp"};
    CHECK_THROWS_AS(write_report(out, run, Filter(run, of_messages), {.by = ReportBy::call_sites}),
                    Error);
    write_report(out, run, Filter(run, of_messages), {.format = Format::json});
    const ordered_json report = ordered_json::parse(out.str());
    CHECK(!report.contains("call_sites"));
    CHECK(dump(report["notes"]).find("by call site") != std::string::npos);
  }

  TEST_CASE("shares of contenders add up to the whole") {
    std::ostringstream out;
    const Run run = random_run(5);
    write_report(out, run, Filter(run, {}), {.by = ReportBy::contenders, .format = Format::json});
    double bytes = 0, transfers = 0;
    const ordered_json report = ordered_json::parse(out.str());
    for (const ordered_json& row : report["contenders"]) {
      bytes += row["bytes_percent"].get<double>();
      transfers += row["transfers_percent"].get<double>();
    }
    CHECK(bytes == doctest::Approx(100));
    CHECK(transfers == doctest::Approx(100));
    CHECK_THROWS_AS(write_report(out, run, Filter(run, {}), {.format = Format::csv}), Error);
  }

  TEST_CASE("the report ends with the verdict on the accounts") {
    Run run = small_run();
    run.identities = {{"uct", "job", "a = b", 3, 3, Verdict::holds}};
    CHECK(identities_line(run) == "identities: all 1 hold");
    run.identities.push_back({"tag", "job", "c = d", 3, 2, Verdict::violated});
    CHECK(identities_line(run) == "identities: 1 of 2 hold; tag violated (3 against 2)");
    CHECK(count_identities(run).violated == 1);
    {
      Run damaged = run;
      ordered_json info = ordered_json::parse(run.info_json);
      info["folder"]["contradictions"] = {{{"log", "dir/b.ulog"}}, {{"log", "dir/b.ulog"}}};
      damaged.info_json = info.dump();
      CHECK(identities_line(damaged) ==
            "identities: 1 of 2 hold; tag violated (3 against 2); what is violated may be so "
            "because b.ulog is damaged or contradicts itself");
      for (const char* log : {"c.ulog", "d.ulog", "e.ulog", "f.ulog"}) {
        info["folder"]["impossible"].push_back({{"log", log}});
      }
      damaged.info_json = info.dump();
      CHECK(damage_sentence(damaged) ==
            "c.ulog, d.ulog, e.ulog and 2 more logs are damaged or contradict themselves");
      std::ostringstream text;
      write_info_text(text, damaged, {.list = InfoList::identities});
      CHECK(text.str().find("c = d: 3 != 2; c.ulog") != std::string::npos);
      CHECK(text.str().find("a = b: 3 = 3; c.ulog") == std::string::npos);
      damaged.identities.pop_back();
      CHECK(identities_line(damaged) == "identities: all 1 hold");
    }
    const ordered_json info = info_json(run);
    CHECK(info["identities"][1]["result"] == "violated");
    CHECK(info["ucx"]["version"] == "1.13.1");
    std::ostringstream out;
    write_report(out, run, Filter(run, {}), {});
    CHECK(out.str().starts_with("# mpirun -np 2 ./a | Open MPI v4.1.4 | UCX 1.13.1"));
    CHECK(out.str().ends_with("# " + identities_line(run) + "\n"));
  }
}

}  // namespace
}  // namespace uctrace
