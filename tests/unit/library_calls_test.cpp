// Calls of libraries above UCX: their names, and which UCP operations were posted within them.
#include "log-merger/library/library_calls.hpp"

#include <doctest/doctest.h>

#include "log-merger/load/load_library_calls.hpp"
#include "log-merger/reports/library_table.hpp"
#include "tests/unit/job_builder.hpp"

using namespace uctrace;
using namespace uctrace::merge;
using test::JobBuilder;

namespace {

constexpr std::uint16_t kPut = 3, kQuiet = 4;  // functions

LibraryCall call(std::uint16_t lane, std::uint16_t function, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t bytes = 0) {
  LibraryCall made;
  made.lane = lane;
  made.function = function;
  made.start_tick = begin;
  made.end_tick = end;
  made.bytes = bytes;
  return made;
}

log::TextView text(log::TextKind kind, std::uint64_t id, std::string_view value) {
  log::TextView view{};
  view.r.head.a = static_cast<std::uint16_t>(kind);
  view.r.id = id;
  view.text = value;
  return view;
}

// Two threads of one process; calls are recorded in the order of their ends.
struct Linked : JobBuilder {
  Linked() : JobBuilder(2) {
    LibraryCalls& calls = log(0).library_calls;
    calls.calls = {call(1, kPut, 100, 200, 64), call(0, kQuiet, 300, 400),
                   call(0, kPut, 100, 150, 8)};
    name_library(calls, text(log::TextKind::library, 0, "Lib\n1.2, of somebody"), job.run.texts);
    name_library(calls, text(log::TextKind::library_function, kPut, "lib_put"), job.run.texts);
    name_library(calls, text(log::TextKind::library_function, kQuiet, "lib_quiet"), job.run.texts);
    using Function = log::UcpFunction;
    within = one_sided(Function::put_nbx, 0, 1, 0x1000, 8, 120);
    at_end = one_sided(Function::get_nbx, 0, 1, 0x1000, 5, 150);
    between = one_sided(Function::put_nbx, 0, 1, 0x1000, 8, 250);
    other_thread = one_sided(Function::put_nbx, 0, 1, 0x1000, 64, 160);
    ucp(other_thread).lane = 1;
    for_sender = one_sided(Function::put_nbx, 0, 1, 0x1000, 16, 320);
    ucp(for_sender).arrival = 7;
    flushed = flush(Function::worker_flush_nbx, 0, 310, 390);
    log(0).ucp_rows = {0, job.ucp.size()};
    link_library_calls(job);
  }

  const LibraryCall& called(UcpIndex op) {
    return log(0).library_calls.calls.at(ucp(op).library_call.place());
  }

  UcpIndex within, at_end, between, other_thread, for_sender, flushed;
};

}  // namespace

TEST_CASE("library calls: an operation belongs to the call in which its thread posted it") {
  Linked linked;
  CHECK(linked.called(linked.within).start_tick == 100);
  CHECK(linked.called(linked.within).lane == 0);
  CHECK(linked.called(linked.at_end).end_tick == 150);
  CHECK(linked.ucp(linked.between).library_call == kNone);
  CHECK(linked.called(linked.other_thread).lane == 1);
  CHECK(linked.ucp(linked.for_sender).library_call == kNone);
  CHECK(linked.called(linked.flushed).function == kQuiet);
  CHECK(linked.called(linked.within).operations == 2);
  CHECK(linked.called(linked.within).operation_bytes == 13);
  CHECK(linked.called(linked.flushed).operations == 1);
  CHECK(linked.called(linked.flushed).operation_bytes == 0);
}

TEST_CASE("library calls: rows by thread and time, with names; sums by function") {
  Linked linked;
  add_library_calls(linked.job);
  const Run& run = linked.job.run;
  const auto& rows = run.library_calls;
  REQUIRE(rows.size() == 3);
  CHECK(run.texts[rows[0].function] == "lib_put");
  CHECK(run.texts[rows[1].function] == "lib_quiet");
  CHECK(rows[2].lane == 1);
  CHECK(run.texts[rows[2].library] == "Lib");
  CHECK(run.texts[linked.log(0).library_calls.versions.at(0)] == "1.2, of somebody");
  const std::vector<LibrarySum> sums = library_sums(run);
  REQUIRE(sums.size() == 2);
  CHECK(run.texts[sums[0].function] == "lib_put");
  CHECK(sums[0].calls == 2);
  CHECK(sums[0].bytes == 72);
  CHECK(sums[0].operations == 3);
  CHECK(sums[0].operation_bytes == 77);
  CHECK(sums[0].ns == 75);  // two ticks a nanosecond
  CHECK(sums[0].max_ns == 50);
  CHECK(library_table(run, sums).rows.size() == 2);
}

TEST_CASE("library calls: a library that says nothing of itself has no version") {
  Texts texts;
  LibraryCalls calls;
  name_library(calls, text(log::TextKind::library, 2, "Lib"), texts);
  CHECK(texts[calls.libraries.at(2)] == "Lib");
  CHECK(calls.versions.at(2) == kNoText);
  LibraryCall unnamed = call(0, 2 << log::LibraryCall::kFunctionBits | 9, 1, 2);
  CHECK(texts[calls.library_of(unnamed)] == "Lib");
  CHECK(calls.function_of(unnamed) == kNoText);
}
