// Windows of recording: how the loader handles the switches in a log, and the counts of the merged
// run.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "log-merger/job/recorded.hpp"
#include "log-merger/merge.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace {
namespace {

using log::LaneInfo;
using log::RecordingSwitch;
using log::RecordType;
using log::Stream;
using log::SwitchCause;
using log::test::LogBuilder;

RecordingSwitch switched(bool on, SwitchCause cause, std::uint32_t number, std::uint64_t tick,
                         std::uint64_t calls, std::uint64_t outside) {
  RecordingSwitch record{};
  record.head.a = static_cast<std::uint16_t>((on ? RecordingSwitch::kOn : 0u) |
                                             static_cast<unsigned>(cause) << 8);
  record.head.b = number;
  record.tick = record.asked_tick = tick;
  record.counters.mpi_calls = calls;
  record.counters.outside_window[static_cast<std::size_t>(log::DropKind::mpi)] = outside;
  return record;
}

void add_calls(LogBuilder& log, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    log::MpiCall call{};
    call.head.a = 1;
    call.start_tick = from + 10 * i;
    call.duration_ticks = 5;
    log.add(call, RecordType::mpi_call);
  }
}

// Off from the start, then a window with two calls of five, off, and a window with the last one.
LogBuilder two_windows() {
  LogBuilder log;
  log.page.world_rank = 0;
  log.chunk(Stream::definitions, 0, 1);
  log::Text name{};
  name.head.a = static_cast<std::uint16_t>(log::TextKind::mpi_function);
  name.head.b = 11;
  name.id = 1;
  log.add(name, RecordType::text, log::test::words_of("MPI_Barrier"));
  log::Text when{};
  when.head.a = static_cast<std::uint16_t>(log::TextKind::recording_when);
  when.head.b = 8;
  when.id = 1;
  log.add(when, RecordType::text, log::test::words_of("pcontrol"));
  log.add(switched(false, SwitchCause::start, 1, 2000, 0, 0), RecordType::recording_switch);
  log.add(switched(true, SwitchCause::pcontrol, 2, 3000, 1, 1), RecordType::recording_switch);
  log.add(switched(false, SwitchCause::pcontrol, 3, 4000, 3, 1), RecordType::recording_switch);
  log.add(switched(true, SwitchCause::signal, 4, 5000, 4, 2), RecordType::recording_switch);
  log.chunk(Stream::events, 0, 1);
  add_calls(log, 3100, 2);
  add_calls(log, 5100, 1);
  log.lanes[0].counters.mpi_calls = 5;
  log.lanes[0].counters.outside_window[static_cast<std::size_t>(log::DropKind::mpi)] = 2;
  return log;
}

Run run_of(LogBuilder& log) {
  LogSet logs{.folder = "folder", .files = {}, .left_out = {}};
  logs.files.push_back(log.read());
  return merge_logs(std::move(logs), {});
}

const Identity& identity(const Run& run, const std::string& name) {
  const auto found = std::find_if(run.identities.begin(), run.identities.end(),
                                  [&](const Identity& i) { return i.name == name; });
  REQUIRE(found != run.identities.end());
  return *found;
}

TEST_CASE("identities speak of the windows, and what is outside is an account of its own") {
  LogBuilder log = two_windows();
  const Run run = run_of(log);
  CHECK(identity(run, "mpi").scope == "windows");
  CHECK(identity(run, "mpi").left == 3);
  CHECK(identity(run, "mpi").right == 3);
  CHECK(identity(run, "mpi").result == Verdict::holds);
  CHECK(identity(run, "recorded_mpi").left == 5);
  CHECK(identity(run, "recorded_mpi").result == Verdict::holds);

  const auto info = nlohmann::json::parse(run.info_json);
  CHECK(info["events"]["outside_window"] == 2);
  REQUIRE(info["windows"].size() == 2);
  CHECK(info["windows"][0]["opened_by"] == "pcontrol");
  CHECK(info["windows"][0]["closed_by"] == "pcontrol");
  CHECK(info["windows"][1]["opened_by"] == "signal");
  CHECK(info["windows"][1]["end_ns"] == nullptr);
  CHECK(info["recording"]["start_on"] == "pcontrol");
  CHECK(info["recording"]["stop_on"] == nullptr);
  CHECK(info["recording"]["sentence"] == run.notes.front());
}

TEST_CASE("a call that a window should hold and does not, or one more than was counted, is seen") {
  LogBuilder log = two_windows();
  SUBCASE("a record too many") { add_calls(log, 5200, 1); }
  SUBCASE("counted, and neither recorded nor left out") { ++log.lanes[0].counters.mpi_calls; }
  const Run run = run_of(log);
  CHECK(identity(run, "mpi").result == Verdict::violated);
  CHECK(identity(run, "recorded_mpi").result == Verdict::violated);
}

TEST_CASE("a log of bounded size claims what it can") {
  LogBuilder log;
  log.chunk(Stream::events, 0, 1);
  add_calls(log, 5100, 3);
  log.lanes[0].counters.mpi_calls = 10;
  log.lanes[0].counters.recorded_events = 10;
  log.lanes[0].counters.overwritten[static_cast<std::size_t>(log::DropKind::mpi)] = 7;
  log.lanes[0].counters.overwritten_until_tick = 5000;
  const Run run = run_of(log);
  CHECK(identity(run, "events").result == Verdict::holds);
  CHECK(identity(run, "recorded_mpi").result == Verdict::holds);
  CHECK(identity(run, "mpi").result == Verdict::incomplete);
  const auto info = nlohmann::json::parse(run.info_json);
  CHECK(info["events"]["overwritten"] == 7);
  CHECK(info["recording"]["whole_from_ns"].is_number());
}

TEST_CASE("a lane that was off and met no event has no gap") {
  merge::RecordedLoader loader;
  const auto take = [&](std::uint16_t lane, const RecordingSwitch& record) {
    loader.take(lane, log::RecordingSwitchView{record});
  };
  take(0, switched(true, SwitchCause::start, 1, 100, 0, 0));
  take(0, switched(false, SwitchCause::pcontrol, 2, 200, 4, 0));
  take(0, switched(true, SwitchCause::pcontrol, 3, 300, 4, 0));
  take(1, switched(false, SwitchCause::pcontrol, 2, 210, 0, 0));
  take(1, switched(true, SwitchCause::pcontrol, 3, 310, 9, 9));
  std::vector<LaneInfo> lanes(2);
  lanes[0].counters.mpi_calls = 6;
  lanes[1].counters.mpi_calls = 10;
  lanes[1].counters.outside_window[2] = 9;
  const merge::Recorded recorded = loader.finish(lanes);
  REQUIRE(recorded.lane_gaps.size() == 1);
  CHECK(recorded.lane_gaps[0].lane == 1);
  CHECK(recorded.lane_gaps[0].span.begin_tick == 0);  // it was off at its first event
  CHECK(recorded.lane_gaps[0].span.end_tick == 310);
  CHECK(recorded.lane_gaps[0].counted.mpi_calls == 9);
  CHECK(recorded.counted.mpi_calls == 7);
  CHECK(recorded.windows.size() == 2);
  CHECK(recorded.outside == 9);
}

}  // namespace
}  // namespace uctrace
