// The output of tables, receipts and messages, for people and for programs.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "event-log/reader/error.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/report.hpp"
#include "tests/unit/message_at.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

TEST_SUITE("unit") {
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
                                           "library_call",
                                           "call_site",
                                           "recv_call_site",
                                           "protocol",
                                           "protocol_from",
                                           "t_start_ns",
                                           "t_posted_recv_ns",
                                           "t_end_ns",
                                           "t_error_ns",
                                           "wait_ns",
                                           "registration_ns",
                                           "connection_ns",
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
    const auto of = [&](std::vector<std::string> FilterSpec::*asked,
                        std::vector<std::string> names) {
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
      damaged.identities.push_back({"delays", "job", "e = f, but for rounding", 4, 5, Verdict::holds});
      text.str("");
      write_info_text(text, damaged, {.list = InfoList::identities});
      CHECK(text.str().find("e = f, but for rounding: 4 ~ 5\n") != std::string::npos);
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
