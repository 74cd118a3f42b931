#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "event-log/reader/error.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/merge.hpp"
#include "log-merger/reports/info_output.hpp"
#include "tests/unit/job_builder.hpp"
#include "tests/unit/merged_logs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::merge::test {

using nlohmann::ordered_json;

TEST_CASE("whole logs of one job have no anomaly") {
  std::vector<LogBuilder> logs{process(0), process(1)};
  for (LogBuilder& log : logs) log.page.world_size = 2;
  const Run run = merged(logs);
  CHECK(run.notes.empty());
  const ordered_json info = info_json(run);
  CHECK(info["folder"]["jobs"].size() == 1);
  for (const char* list : {"left_out", "second_logs", "damaged", "impossible", "contradictions"}) {
    CHECK(info["folder"][list].empty());
  }
  for (const char* list :
       {"violations_by_hosts", "backward", "wall_clock_steps", "disagreements"}) {
    CHECK(info["clock"][list].empty());
  }
}

TEST_CASE("a worker that no record made, at the handle of a destroyed one, is not that one") {
  using namespace log;
  constexpr std::uint64_t kHandle = 0x700, kUid = 0xfeed;
  LogBuilder builder = process(0);
  const auto receive_at = [&](std::uint64_t tick) {
    UcpOperation receive{};
    receive.head.a = static_cast<std::uint16_t>(UcpFunction::tag_recv_nbx);
    receive.start_tick = tick;
    receive.handle = kHandle;
    builder.add(receive, RecordType::ucp_operation);
    ++builder.lanes[0].counters.ucp_operations;
  };
  receive_at(2000);
  receive_at(4000);
  builder.chunk(Stream::definitions, 0, 1);
  UcpWorker worker{};
  worker.tick = 1500;
  worker.handle = kHandle;
  worker.uid = kUid;
  builder.add(worker, RecordType::ucp_worker);
  for (const std::uint64_t tick : {3000, 5000}) {
    HandleEnd end{};
    end.tick = tick;
    end.handle = kHandle;
    builder.add(end, RecordType::ucp_worker_destroy);
  }
  const Run run = merged({builder});
  REQUIRE(run.ucp_operations.size() == 2);
  CHECK(run.ucp_operations[0].worker_uid == kUid);
  CHECK(run.ucp_operations[1].worker_uid == 0);
}

TEST_CASE("several jobs in one folder: the newest is shown, the others are named") {
  std::vector<LogBuilder> logs{process(0), process(1), process(0)};
  std::strcpy(logs[2].page.job, "later");
  logs[2].page.anchors[0].realtime_ns += 1000;
  logs[2].page.pid = 99;
  const Run run = merged(logs);
  CHECK(run.processes.size() == 1);
  CHECK(has_note(run,
                 "the folder holds 2 jobs; this is the newest, 'later' (1 process); --job takes "
                 "another: 'job' (2 processes)"));
  const ordered_json jobs = info_json(run)["folder"]["jobs"];
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0]["job"] == "job");
  CHECK(jobs[0]["processes"] == 2);
  CHECK(jobs[0]["shown"] == false);
  CHECK(jobs[1]["shown"] == true);
  CHECK(merged(logs, {.job = "jo"}).processes.size() == 2);
  CHECK_THROWS_AS(merged(logs, {.job = "none"}), Error);
}

TEST_CASE("of the logs of other jobs only the heads are read") {
  const uctrace::test::TemporaryFolder folder;
  std::vector<LogBuilder> logs{process(0), process(1), process(0)};
  std::strcpy(logs[2].page.job, "later");
  logs[2].page.anchors[0].realtime_ns += 1000;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::vector<std::byte> bytes = logs[i].bytes();
    std::ofstream(folder / (std::to_string(i) + ".ulog"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::ofstream(folder / "3.ulog") << "no log";
  const LogSet newest = read_logs(folder.path(), {}),
               older = read_logs(folder.path(), {.job = "jo"});
  CHECK(newest.files.size() == 1);
  CHECK(newest.files.front().job() == "later");
  CHECK(older.files.size() == 2);
  CHECK(read_logs(folder.path(), {.job = "none"}).files.empty());
  for (const LogSet* set : {&newest, &older}) {
    REQUIRE(set->jobs.size() == 2);
    CHECK(set->jobs[0].processes == 2);
    CHECK(set->left_out.size() == 1);
    CHECK(are_settled(set->sources));  // the end of every operation there is known
    CHECK(set->sources.back().state == SourceState::foreign);
  }
  CHECK_THROWS_WITH_AS(merge_folder(folder.path(), {.job = "none"}), doctest::Contains("no job"),
                       Error);
}

TEST_CASE("a second log of a process is counted once") {
  SUBCASE("a copy") {
    const Run run = merged({process(0, 3), process(0, 3)});
    CHECK(run.mpi_calls.size() == 3);
    CHECK(has_note(run, "log1: a copy of log0; it is counted once"));
    CHECK(info_json(run)["folder"]["second_logs"][0]["same"] == true);
  }
  SUBCASE("an older copy comes first: the one with more events is taken") {
    const Run run = merged({process(0, 1), process(0, 3)});
    CHECK(run.mpi_calls.size() == 3);
    CHECK(has_note(run, "log0: a second log of the process of log1, with other content"));
    CHECK(info_json(run)["folder"]["second_logs"][0]["same"] == false);
  }
}

TEST_CASE("no log can be read: what the folder holds instead is said") {
  const auto why_of = [](std::size_t count) {
    LogSet logs;
    for (std::size_t i = 0; i < count; ++i) {
      logs.add("x", [] { return log::LogFile::from_bytes({}, "x"); });
    }
    try {
      merge_logs(std::move(logs), {});
    } catch (const Error& error) {
      return error.problem().why;
    }
    return std::string("nothing");
  };
  CHECK(why_of(0) == "it holds no *.ulog file");
  CHECK(why_of(1) == "cannot read the log x: its process had not begun to write it");
  CHECK(why_of(2) ==
        "none of its 2 logs; the first: cannot read the log x: its process had not begun to write "
        "it");
}

TEST_CASE("missing ranks are named, whatever number a damaged log claims") {
  LogBuilder log = process(1);
  log.page.world_size = INT32_MAX;
  const Run run = merged({log});
  CHECK(has_note(run,
                 "no log of rank 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and "
                 "2147483630 more (of 2147483647)"));
  CHECK(info_json(run)["folder"]["missing_ranks"] == 2147483646);
}

TEST_CASE("clocks that go backwards are named") {
  LogBuilder log = process(0, 2);
  SUBCASE("anchors") {
    log.page.anchors[1].monotonic_ns = 5;
    const Run run = merged({log});
    CHECK(has_note(run, "log0: its clock went backwards"));
    CHECK(info_json(run)["clock"]["backward"][0]["anchors"] == 1);
  }
  SUBCASE("calls of a thread") {
    log::MpiCall call{};
    call.start_tick = 1;
    log.add(call, log::RecordType::mpi_call);
    ++log.lanes[0].counters.mpi_calls;
    const Run run = merged({log});
    CHECK(has_note(run, "log0: 1 MPI calls begin before the one before them"));
    CHECK(info_json(run)["clock"]["backward"][0]["calls"] == 1);
  }
}

TEST_CASE("processes without events are named where others have some") {
  CHECK(
      has_note(merged({process(0), process(1, 0), process(2, 0)}), "no event of rank 1, rank 2:"));
  CHECK_FALSE(has_note(merged({process(0), process(1)}), "no event of"));
  CHECK_FALSE(has_note(merged({process(0, 0), process(1, 0)}), "no event of"));
}

TEST_CASE("notes of thousands of logs are few, and nothing is left out of the lists") {
  std::vector<LogBuilder> builders;
  for (int i = 0; i < 40; ++i) {
    builders.push_back(process(i, 2));
    builders.back().lanes[0].counters.recorded_events = 3;  // one is missing
  }
  SUBCASE("damaged logs") {
    const Run run = merged(builders);
    CHECK(run.notes.size() == 17);
    CHECK(has_note(run, "24 more logs are damaged: `uctrace info --format json` lists them"));
    CHECK(info_json(run)["folder"]["damaged"].size() == 40);
  }
  SUBCASE("jobs") {
    for (std::size_t i = 0; i < builders.size(); ++i) {
      std::strcpy(builders[i].page.job, ("job" + std::to_string(i)).c_str());
    }
    const Run run = merged(builders);
    CHECK(has_note(run, "the folder holds 40 jobs; "));
    CHECK(has_note(run, " and 23 more"));
    CHECK(info_json(run)["folder"]["jobs"].size() == 40);
  }
  SUBCASE("files that are no logs") {
    LogSet logs;
    for (int i = 0; i < 40; ++i) {
      logs.add("x", [] { return log::LogFile::from_bytes({}, "x"); });
    }
    logs.add("a", [&] { return log::LogFile::from_bytes(process(0).bytes(), "a"); });
    const Run run = merge_logs(std::move(logs), {});
    CHECK(run.notes.size() == 17);
    CHECK(has_note(run, "24 more files cannot be read as logs"));
    CHECK(info_json(run)["folder"]["left_out"].size() == 40);
  }
  SUBCASE("copies") {
    const Run run = merged(std::vector<LogBuilder>(41, process(0)));
    CHECK(run.notes.size() == 17);
    CHECK(has_note(run, "24 more logs are of processes that have another one"));
    CHECK(info_json(run)["folder"]["second_logs"].size() == 40);
  }
}

TEST_CASE("a wall clock that was set during the run") {
  LogBuilder log = process(0);
  SUBCASE("drift is none") { log.page.anchors[1].realtime_ns += 9'000'000; }
  SUBCASE("forward") {
    log.page.anchors[1].realtime_ns += 1'000'000'000;
    CHECK(has_note(merged({log}), "the wall clock of host node1 was set forward by 1.0 s"));
  }
  SUBCASE("back") {
    log.page.anchors[1].realtime_ns -= 60'000'000'000;
    const Run run = merged({log});
    CHECK(has_note(run, "the wall clock of host node1 was set back by 60.0 s"));
    CHECK(info_json(run)["clock"]["wall_clock_steps"][0]["step_ns"] == -60'000'000'000);
    return;
  }
  CHECK(merged({log}).notes.size() == (log.page.anchors[1].realtime_ns > kSomeDayNs + 500'000'000));
}

TEST_CASE("two clocks on one host") {
  std::vector<LogBuilder> logs{process(0), process(1)};
  for (log::Anchor* anchor : {&logs[1].page.anchors[0], &logs[1].page.anchors[1]}) {
    anchor->monotonic_ns += 5'000'000'000;
  }
  const Run run = merged(logs);
  CHECK(has_note(run, "log1: its clocks and those of log0 on the same host differ by 5.0 s"));
  CHECK(info_json(run)["clock"]["disagreements"][0]["by_ns"] == -5'000'000'000);
  // Another boot has another monotonic clock: the wall clock is used instead.
  std::strcpy(logs[1].page.boot_id, "other");
  CHECK_FALSE(has_note(merged(logs), "differ by"));
}

TEST_CASE("a process of another host whose log is open is not taken for dead") {
  std::vector<LogBuilder> logs{process(0)};
  logs[0].page.closed = 0;
  logs[0].page.exit = log::ExitKind::running;
  const Run run = merged(logs);
  CHECK(run.texts[run.processes[0].exit] == "unseen");
}

TEST_CASE("what joins the clocks of two processes") {
  std::vector<LogBuilder> logs{process(0), process(1)};
  for (log::Anchor* anchor : {&logs[1].page.anchors[0], &logs[1].page.anchors[1]}) {
    anchor->monotonic_ns += 5'000'000'000;
  }
  const auto clock_of = [&] { return info_json(merged(logs))["clock"]; };
  SUBCASE("a time namespace of its own: the wall clock, as between hosts") {
    logs[1].page.time_namespace = 4026531835;
    const Run run = merged(logs);
    CHECK_FALSE(has_note(run, "differ by"));
    CHECK(run.mpi_calls[0].t_start_ns == run.mpi_calls[1].t_start_ns);
    CHECK(clock_of()["hosts_aligned_by"] == "wall clock");
    CHECK(clock_of()["max_error_ns"].is_null());
  }
  SUBCASE("two host names on one kernel: its clock") {
    std::strcpy(logs[1].page.host, "other");
    CHECK(clock_of()["hosts_aligned_by"] == "same clock");
    CHECK(clock_of()["max_error_ns"] == 0);
  }
}

TEST_CASE("messages received before they were sent, by pair of hosts") {
  Job job;
  for (const char* host : {"a", "b"}) {
    job.logs.emplace_back(process(static_cast<int>(job.logs.size())).read());
    job.logs.back().monotonic_clock = job.run.processes.size();
    job.run.processes.emplace_back().host = job.run.texts.intern(host);
  }
  const auto message = [&](std::int32_t src, std::int32_t dst, std::int64_t start,
                           std::int64_t end) {
    Message& row = job.run.messages.emplace_back();
    row.src_process = src;
    row.dst_process = dst;
    row.t_start_ns = start;
    row.t_end_ns = end;
  };
  message(0, 1, 100, 90);
  message(0, 1, 5000, 2000);
  message(0, 1, 100, 100);
  message(0, 1, 100, -1);
  message(1, 1, 8, 7);
  message(-1, 1, 8, 7);
  SUBCASE("measured: only what is beyond the error is one") {
    PlacedClock placed;
    placed.stretches.push_back({.end_ns = 10'000, .begin_error_ns = 500, .end_error_ns = 500});
    job.clock_places = {PlacedClock{}, placed};
    find_clock_violations(job);
    CHECK(job.findings.early_within_error == 1);
    REQUIRE(job.findings.violations.size() == 2);
    CHECK(job.findings.violations[0].messages == 1);
    CHECK(has_note(job.run, "more than the error of their measured clocks"));
    return;
  }
  find_clock_violations(job);
  REQUIRE(job.findings.violations.size() == 2);
  CHECK(job.findings.violations[0].messages == 2);
  CHECK(job.findings.violations[0].worst_ns == 3000);
  CHECK(job.findings.violations[1].messages == 1);
  CHECK(has_note(job.run,
                 "2 messages from host a to host b were received before they were sent, by "
                 "up to 3.0 us"));
  CHECK(has_note(job.run, "1 messages on host b"));
}

TEST_CASE("a log from the future") {
  LogBuilder log = process(0);
  for (log::Anchor& anchor : log.page.anchors) anchor.realtime_ns += 100'000 * kDayNs;
  CHECK(has_note(merged({log}), "began in the future (rank 0)"));
}

TEST_CASE("what a process counted and what it recorded differ") {
  LogBuilder log = process(0, 2);
  SUBCASE("in a whole log") {
    log.lanes[0].counters.mpi_calls = 7;
    const Run run = merged({log});
    CHECK(has_note(run, "log0: it counted 7 MPI calls and holds records of 2"));
    const ordered_json found = info_json(run)["folder"]["contradictions"];
    REQUIRE(found.size() == 1);
    CHECK(found[0]["counted"] == 7);
    CHECK(found[0]["recorded"] == 2);
  }
  SUBCASE("not where the log is cut anyway, or the layer was off") {
    log.lanes[0].counters.mpi_calls = 7;
    log.page.layers[static_cast<std::size_t>(log::Layer::mpi)] = log::LayerState::off;
    CHECK_FALSE(has_note(merged({log}), "it counted"));
    log.page.layers[static_cast<std::size_t>(log::Layer::mpi)] = log::LayerState::on;
    log.page.closed = 0;
    CHECK_FALSE(has_note(merged({log}), "it counted"));
  }
}

TEST_CASE("a job without an event says so") {
  CHECK(has_note(merged({process(0, 0)}), "no event was recorded"));
}

TEST_CASE("text of a log is plain wherever it is shown") {
  CHECK(plain_text("MPI_COMM_WORLD") == "MPI_COMM_WORLD");
  CHECK(plain_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(plain_text("a\x1b[31m\n\x7f") == "a\\x1b[31m\\x0a\\x7f");
  CHECK(plain_text("\xc2\x9b") == "\\xc2\\x9b");           // CSI in one character
  CHECK(plain_text("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // right to left
  CHECK(plain_text("\xe2\x80\x8f\xd8\x9c") == "\\xe2\\x80\\x8f\\xd8\\x9c");  // marks of a direction
  CHECK(plain_text("\xff\xc3") == "\\xff\\xc3");           // no UTF-8, and cut
  CHECK(plain_text("\xed\xa0\x80\xc0\x80") ==
        "\\xed\\xa0\\x80\\xc0\\x80");  // half of a pair, overlong
  Texts texts;
  CHECK(texts[texts.intern("\x1b")] == "\\x1b");
  CHECK(Error({"a\x1b", "b\nc", "d"}).message() == "a\\x1b: b c; d.");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("a\n'\\\x1b") == R"($'a\n\'\\\x1b')");
  CHECK(csv_field("=cmd|'/c calc'!A1") == "'=cmd|'/c calc'!A1");
  CHECK(csv_field("@a,b") == "\"'@a,b\"");
}

}  // namespace uctrace::merge::test
