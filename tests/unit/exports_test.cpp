// The building blocks of exports: lanes, messages of Protocol Buffers, new folders.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/exports/export.hpp"
#include "log-merger/exports/lanes.hpp"
#include "log-merger/exports/lists_in_file.hpp"
#include "log-merger/exports/protobuf.hpp"
#include "log-merger/exports/record_time.hpp"
#include "log-merger/exports/rows_of_processes.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/folder/new_folder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::exports {
namespace {

namespace fs = std::filesystem;

TEST_CASE("an operation takes the first lane that is free, as a search of all finds it") {
  std::mt19937 random(1);
  for (int run = 0; run < 50; ++run) {
    Lanes lanes;
    std::vector<std::int64_t> busy_until;
    std::int64_t start_ns = 0;
    for (int i = 0; i < 300; ++i) {
      start_ns += random() % 3;
      const std::int64_t end_ns = start_ns + random() % 12;
      std::size_t expected = 0;
      while (expected < busy_until.size() && busy_until[expected] > start_ns) ++expected;
      if (expected == busy_until.size()) busy_until.push_back(0);
      busy_until[expected] = end_ns;
      REQUIRE(lanes.take(start_ns, end_ns) == expected);
    }
  }
}

// Two threads that take turns, one after the other in the table.
Run run_of_two_threads(std::int64_t calls_each) {
  Run run;
  run.processes.resize(2);
  for (std::int64_t thread = 0; thread < 2; ++thread) {
    for (std::int64_t i = 0; i < calls_each; ++i) {
      MpiCallRow call;
      call.process = 1;
      call.lane = static_cast<std::uint32_t>(thread);
      call.t_start_ns = 2 * i + thread;
      run.mpi_calls.push_back(call);
    }
  }
  return run;
}

TEST_CASE("rows of a process are visited by their starts, also where there are many") {
  constexpr std::int64_t kCalls = 150'000;  // more than are kept in memory at once
  const Run run = run_of_two_threads(kCalls);
  const RowSource source(run);
  const std::vector<RowsOfProcess> rows = rows_of_processes<MpiCallRow>(source);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == rows[0].end);
  std::int64_t next_ns = 0;
  bool are_right = true;
  for_each_by_start<MpiCallRow>(source, rows[1], [&](const MpiCallRow& call, std::size_t number) {
    are_right = are_right && call.t_start_ns == next_ns++ &&
                call.t_start_ns == run.mpi_calls[number].t_start_ns;
  });
  CHECK(are_right);
  CHECK(next_ns == 2 * kCalls);
}

TEST_CASE("rows that are not by process are refused") {
  Run run = run_of_two_threads(2);
  run.mpi_calls[1].process = 0;
  CHECK_THROWS_AS(rows_of_processes<MpiCallRow>(RowSource(run)), Error);
}

// As the rows of several threads, and of operations in others, lie in the tables.
TEST_CASE("operations of a process take as many lanes as overlap, whatever the order of rows") {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    Run run;
    run.processes.resize(1);
    for (int i = 0; i < 300; ++i) {
      UcpOperationRow& row = run.ucp_operations.emplace_back();
      row.t_start_ns = static_cast<std::int64_t>(random() % 1000);
      row.t_end_ns = row.t_start_ns + static_cast<std::int64_t>(random() % 20);
    }
    std::size_t overlap = 0;
    for (const UcpOperationRow& row : run.ucp_operations) {
      const auto is_in_progress = [&](const UcpOperationRow& other) {
        return other.t_start_ns <= row.t_start_ns && other.t_end_ns > row.t_start_ns;
      };
      const auto others = static_cast<std::size_t>(
          std::count_if(run.ucp_operations.begin(), run.ucp_operations.end(), is_in_progress));
      const bool takes_no_time = row.t_end_ns == row.t_start_ns;
      overlap = std::max(overlap, others + (takes_no_time ? 1 : 0));
    }
    Lanes lanes;
    std::size_t most = 0;
    std::vector<std::int64_t> busy_until(run.ucp_operations.size());
    for_each_by_start<UcpOperationRow>(RowSource(run), {0, run.ucp_operations.size()},
                                       [&](const UcpOperationRow& row, std::size_t) {
                                         const std::size_t lane =
                                             lanes.take(row.t_start_ns, row.t_end_ns);
                                         REQUIRE(busy_until[lane] <= row.t_start_ns);
                                         busy_until[lane] = row.t_end_ns;
                                         most = std::max(most, lane + 1);
                                       });
    CHECK(most <= overlap);
  }
}

TEST_CASE("lists in a file are what was added to them") {
  const test::TemporaryFolder scratch;
  std::mt19937 random(3);
  std::vector<std::vector<std::uint64_t>> expected(7);
  std::vector<std::size_t> order, lengths;
  for (std::size_t list = 0; list < expected.size(); ++list) {
    lengths.push_back(list == 3 ? 0 : 5000 * list + random() % 100);  // 4096 are written at once
    order.insert(order.end(), lengths.back(), list);
  }
  std::shuffle(order.begin(), order.end(), random);
  ListsInFile<std::uint64_t> lists(scratch.path(), lengths);
  CHECK(fs::is_empty(scratch.path()));  // it has no name
  for (const std::size_t list : order) {
    expected[list].push_back(random());
    lists.add(list, expected[list].back());
  }
  lists.end();
  for (std::size_t list = 0; list < expected.size(); ++list) {
    CHECK(lists.read(list) == expected[list]);
  }
}

TEST_CASE("what ends at the instant at which it begins comes behind its beginning") {
  const RecordTime sent{10, 4}, complete{10, -1}, later_call{10, 5}, before{9, -1}, after{11, 0};
  std::vector<RecordTime> times = {complete, after, later_call, sent, before};
  std::stable_sort(times.begin(), times.end());
  const std::vector<std::int64_t> calls = {-1, 4, 5, -1, 0};
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(times[i].call == calls[i]);
}

TEST_CASE("a run of which neither command nor id is known is exported, too") {
  const test::TemporaryFolder scratch;
  Run run;
  run.processes.resize(1);
  for (const ExportTo to : {ExportTo::csv, ExportTo::perfetto, ExportTo::otf2}) {
    const ExportOptions options{.to = to, .path = scratch.path() / ending_of(to)};
    try {
      require_exportable(to);
    } catch (const Error&) {
      continue;  // built without the OTF2 library
    }
    CHECK_NOTHROW(export_run(RowSource(run), options));
    CHECK(fs::exists(options.path));
  }
}

TEST_CASE("what cannot be written says what to do about it") {
  const test::TemporaryFolder scratch;
  const Run run;
  const auto to_do_of = [&](const fs::path& path) {
    try {
      export_run(RowSource(run), {.to = ExportTo::csv, .path = path});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::ofstream(scratch.path() / "file") << "text";
  CHECK(to_do_of(scratch.path() / "file").find("remove it, or name another place") !=
        std::string::npos);
  CHECK(to_do_of(scratch.path() / "none" / "csv").find("make the folder") != std::string::npos);
  const std::string no_folder = to_do_of(scratch.path() / "file" / "csv");
  CHECK(no_folder.find("name another place") != std::string::npos);
  CHECK(no_folder.find("room") == std::string::npos);
}

TEST_CASE("operations out of their order, or without an end, share no lane that is not free") {
  Lanes lanes;
  CHECK(lanes.take(10, INT64_MAX) == 0);
  CHECK(lanes.take(20, 30) == 1);
  CHECK(lanes.take(30, 40) == 1);
  CHECK(lanes.take(25, 28) == 2);  // lane 1 was not free then
  CHECK(lanes.take(41, 42) == 1);
}

// The examples of https://protobuf.dev/programming-guides/encoding/
TEST_CASE("messages of Protocol Buffers are bytes as their documentation has them") {
  ProtoMessage number, text, nested;
  number.varint(1, 150);
  CHECK(number.text() == "\x08\x96\x01");
  text.bytes(2, "testing");
  CHECK(text.text() == "\x12\x07testing");
  nested.message(3, number);
  CHECK(nested.text() == "\x1a\x03\x08\x96\x01");
  ProtoMessage more;
  more.varint(1, UINT64_MAX);
  CHECK(more.text() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ProtoMessage fixed;
  fixed.fixed64(47, 1);
  CHECK(fixed.text() == std::string("\xf9\x02\x01\0\0\0\0\0\0\0", 10));
  ProtoMessage real;
  real.number(1, 1.0);
  CHECK(real.text() == std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

bool is_taken(const fs::path& path) {
  try {
    const NewFolder folder(path);
    return false;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::file_exists;
  }
}

TEST_CASE("a new folder has its name once it is whole, and takes nobody's place") {
  const test::TemporaryFolder scratch;
  const fs::path wanted = scratch.path() / "wanted";
  {
    const NewFolder given_up(wanted);
    std::ofstream(given_up.path() / "file") << "text";
  }
  CHECK(fs::is_empty(scratch.path()));
  {
    NewFolder folder(wanted / "");  // with a slash at its end
    std::ofstream(folder.path() / "file") << "text";
    CHECK_FALSE(fs::exists(wanted));
    folder.publish();
  }
  CHECK(fs::file_size(wanted / "file") == 4);
  CHECK(is_taken(wanted));
  fs::create_symlink("nowhere", scratch.path() / "link");
  CHECK(is_taken(scratch.path() / "link"));
  {
    NewFolder late(scratch.path() / "late");
    std::ofstream(scratch.path() / "late") << "of another";
    CHECK_THROWS_AS(late.publish(), std::system_error);
  }
  CHECK(fs::file_size(scratch.path() / "late") == 10);
}

TEST_CASE("a file that must be new takes nobody's place either") {
  const test::TemporaryFolder scratch;
  const fs::path wanted = scratch.path() / "wanted";
  {
    NewFile file(wanted);
    file.write("mine");
    file.publish_new();
  }
  CHECK(fs::file_size(wanted) == 4);
  NewFile second(wanted);
  second.write("another one");
  CHECK_THROWS_AS(second.publish_new(), std::system_error);
  CHECK(fs::file_size(wanted) == 4);
}

}  // namespace
}  // namespace uctrace::exports
