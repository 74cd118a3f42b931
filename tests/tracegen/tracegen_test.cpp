// The parts of the generator that are functions of their arguments, and its way to write a log.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "event-log/reader/reader.hpp"
#include "tests/tracegen/process_run.hpp"
#include "tests/tracegen/random.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::tracegen {
namespace {

namespace fs = std::filesystem;

Options some_options(std::int32_t processes, std::uint64_t seed) {
  Options options;
  options.processes = processes;
  options.hosts = std::min(processes, 3);
  options.lanes = 2;
  options.gpus = 1;
  options.seed = seed;
  return options;
}

TEST_CASE("tracegen: whom a rank sends to receives from it") {
  for (const Pattern pattern : {Pattern::stencil, Pattern::ring, Pattern::pairs, Pattern::random,
                                Pattern::all_to_all, Pattern::binomial, Pattern::doubling}) {
    for (std::int32_t size = 1; size <= 40; ++size) {
      for (std::uint32_t slot = 0; slot < slots_of(pattern, size); ++slot) {
        std::set<std::int32_t> targets;
        for (std::int32_t rank = 0; rank < size; ++rank) {
          const std::uint64_t choice = mix(static_cast<std::uint64_t>(size));
          const Neighbours with = neighbours(pattern, slot, rank, size, choice);
          REQUIRE(with.to < size);
          REQUIRE(with.from < size);
          if (with.to < 0) continue;
          REQUIRE(neighbours(pattern, slot, with.to, size, choice).from == rank);
          REQUIRE(targets.insert(with.to).second);
        }
      }
    }
  }
}

TEST_CASE("tracegen: a tree reaches every rank once") {
  for (const std::int32_t size : {1, 2, 3, 7, 8, 33}) {
    std::multiset<std::int32_t> reached{0};
    for (std::uint32_t slot = 0; slot < slots_of(Pattern::binomial, size); ++slot) {
      for (std::int32_t rank = 0; rank < size; ++rank) {
        const Neighbours with = neighbours(Pattern::binomial, slot, rank, size, 0);
        if (with.to < 0) continue;
        CHECK(reached.count(rank) == 1);
        reached.insert(with.to);
      }
    }
    CHECK(reached.size() == static_cast<std::size_t>(size));
  }
}

TEST_CASE("tracegen: on every communicator, also between groups and worlds, receives meet sends") {
  for (const std::int32_t spawned : {0, 1, 5}) {
    Options options = some_options(7, 3);
    options.spawned = spawned;
    const Shape shape(options);
    Step step;
    for (std::size_t comm = 0; comm < kComms; ++comm) {
      step.comm = static_cast<Comm>(comm);
      if (!shape.has_comm(step.comm, 0)) continue;
      std::size_t sends = 0;
      for (const Pattern pattern : {Pattern::stencil, Pattern::pairs, Pattern::random}) {
        step.pattern = pattern;
        for (std::uint32_t slot = 0; slot < slots_of(pattern, shape.most_size_of(step.comm));
             ++slot) {
          for (std::int32_t rank = 0; rank < shape.size(); ++rank) {
            const Neighbours with = partners(shape, step, slot, rank);
            if (with.to < 0) continue;
            ++sends;
            REQUIRE(with.to < shape.size());
            REQUIRE(partners(shape, step, slot, with.to).from == rank);
            const bool other_world = shape.is_spawned(rank) != shape.is_spawned(with.to);
            CHECK(other_world == (step.comm == Comm::spawned));
          }
        }
      }
      CHECK(sends > 0);
    }
  }
}

TEST_CASE("tracegen: steps follow each other and are the same for everybody") {
  const Shape shape(some_options(8, 5));
  Steps a(shape, 1000), b(shape, 1000);
  std::int64_t end_ns = 1000;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Step &one = a.next(), &other = b.next();
    CHECK(one.number == i);
    CHECK(one.choice == other.choice);
    CHECK(one.begin_ns == end_ns);
    CHECK(one.begin_ns == other.begin_ns);
    CHECK(one.end_ns() > one.begin_ns);
    end_ns = one.end_ns();
  }
}

TEST_CASE("tracegen: the fragments of a message are all of it") {
  Message m;
  for (const Way way : {Way::eager_short, Way::multi_bcopy, Way::multi_zcopy, Way::rndv_am}) {
    for (const std::uint64_t bytes : {1u, 8168u, 8169u, 16336u, 65344u, 1000000u}) {
      m.way = way;
      m.bytes = bytes;
      std::uint64_t offset = 0;
      for (std::uint64_t i = 0; i < fragments_of(m); ++i) {
        const Fragment part = fragment_of(m, i);
        CHECK(part.offset == offset);
        CHECK(part.bytes > 0);
        offset += part.bytes;
      }
      CHECK(offset == bytes);
    }
  }
}

TEST_CASE("tracegen: what is received was sent before, and within its step") {
  for (const Network network : {Network::rc_mlx5, Network::tcp}) {
    Options options = some_options(9, 3);
    options.network = network;
    const Shape shape(options);
    Steps steps(shape, 0);
    for (int i = 0; i < 300; ++i) {
      const Step& step = steps.next();
      if (step.kind == StepKind::rma || step.kind == StepKind::cancel) continue;
      for (std::int32_t rank = 0; rank < shape.size(); ++rank) {
        for (std::uint32_t slot = 0; slot < step.slots; ++slot) {
          const Neighbours with = partners(shape, step, slot, rank);
          if (with.to < 0) continue;
          const std::uint32_t window = step.at_once() ? 0 : slot;
          const Message m = message_of(shape, step, window, slot, 0, rank, with.to, 0);
          const Instants at = instants_of(shape, step, m);
          REQUIRE(m.bytes <= options.max_bytes);
          REQUIRE(step.begin_ns <= at.send_ns);
          REQUIRE(at.send_ns + kGapNs / 2 < at.end_ns);
          REQUIRE(at.posted_ns < at.end_ns);
          REQUIRE(at.end_ns < step.end_ns());
        }
      }
    }
  }
}

TEST_CASE("tracegen: clocks of hosts run at their own rates") {
  const HostClock clock{1'000'000, 50'000, 5};
  CHECK(clock.monotonic_ns(0) == 1'000'000);
  CHECK(clock.monotonic_ns(1'000'000'000) == 1'001'000'000 + 50'000);
  CHECK(clock.tick(1000) > clock.tick(999));
  const log::Anchor anchor = clock.anchor(1'000'000'000);
  CHECK(anchor.realtime_ns == 1'000'050'005);
}

TEST_CASE("tracegen: the log that a process leaves is whole, and holds what was counted") {
  const test::TemporaryFolder folder;
  const Shape shape(some_options(4, 7));
  Plan plan{.steps = 200, .begin_ns = first_step_ns(shape)};
  ProcessTruth truth(shape, 1, false);
  ProcessLog log(shape, 1, folder / "a.ulog", truth);
  log.finish(ProcessRun(log, plan).run(), false);
  const log::LogFile read = log::LogFile::open(folder / "a.ulog");
  CHECK_FALSE(read.damage().any());
  CHECK(read.complete());
  CHECK(read.event_count() == log.tally().events);
  CHECK(read.size_bytes() == log.size());
  std::uint64_t blocks_of_many_chunks = 0, last_tick = 0;
  bool in_order = true;
  read.for_each_record(log::Stream::events,
                       log::Overloaded{[&](std::uint16_t lane, const log::MpiCallView& view) {
                                         if (lane != 0) return;
                                         in_order = in_order && view.r.start_tick >= last_tick;
                                         last_tick = view.r.start_tick + view.r.duration_ticks;
                                         ++blocks_of_many_chunks;
                                       },
                                       [](std::uint16_t, const auto&) {}});
  CHECK(in_order);
  CHECK(blocks_of_many_chunks > 100);
}

TEST_CASE("tracegen: records that are dropped are counted by kind") {
  const test::TemporaryFolder folder;
  Options options = some_options(4, 7);
  options.faults.push_back({Fault::Kind::dropped, 1, 20});
  const Shape shape(options);
  Plan plan{.steps = 60, .begin_ns = first_step_ns(shape)};
  ProcessTruth truth(shape, 1, false);
  ProcessLog log(shape, 1, folder / "a.ulog", truth);
  log.finish(ProcessRun(log, plan).run(), false);
  const log::LogFile read = log::LogFile::open(folder / "a.ulog");
  CHECK_FALSE(read.damage().any());
  CHECK_FALSE(read.complete());
  CHECK(read.dropped_records() > 0);
  std::uint64_t dropped = 0;
  for (const log::LaneInfo& lane : log.lane_infos()) {
    for (const std::uint64_t count : lane.counters.dropped) dropped += count;
  }
  CHECK(read.dropped_records() == dropped);
}

namespace {

// The same process of the same job, recorded as the options say.
struct Written {
  Written(const Options& options, std::uint64_t steps)
      : shape(options), truth(shape, 1, false), log(shape, 1, folder / "a.ulog", truth) {
    const Plan plan{.steps = steps, .begin_ns = first_step_ns(shape)};
    log.finish(ProcessRun(log, plan).run(), false);
  }
  log::LogFile read() const { return log::LogFile::open(folder / "a.ulog"); }
  template <std::size_t kKinds>
  std::uint64_t counted(const std::uint64_t (log::LaneCounters::*of)[kKinds]) const {
    std::uint64_t sum = 0;
    for (const log::LaneInfo& lane : log.lane_infos()) {
      for (const std::uint64_t count : lane.counters.*of) sum += count;
    }
    return sum;
  }
  test::TemporaryFolder folder;
  Shape shape;
  ProcessTruth truth;
  ProcessLog log;
};

}  // namespace

TEST_CASE("tracegen: what is not recorded outside of windows is counted there") {
  Options options = some_options(4, 7);
  const Written whole(options, 60);
  options.windows = {{5, 20, 0}, {30, 40, 3}};
  const Written parts(options, 60);
  const log::LogFile read = parts.read();
  CHECK_FALSE(read.damage().any());
  CHECK(read.event_count() == parts.log.tally().events);
  const std::uint64_t outside = parts.counted(&log::LaneCounters::outside_window);
  CHECK(outside > 0);
  CHECK(parts.log.tally().events > 0);
  CHECK(parts.log.tally().events + outside == whole.log.tally().events);
  std::size_t switches = 0;
  read.for_each_record(
      log::Stream::definitions,
      log::Overloaded{[&](std::uint16_t, const log::RecordingSwitchView&) { ++switches; },
                      [](std::uint16_t, const auto&) {}});
  CHECK(switches == 5u * options.lanes);
}

TEST_CASE("tracegen: a log of bounded size has the newest events, and counts the others") {
  Options options = some_options(4, 7);
  const Written whole(options, 3000);
  options.max_log_bytes = 4 * 65536;
  const Written newest(options, 3000);
  const log::LogFile read = newest.read();
  CHECK_FALSE(read.damage().any());
  const std::uint64_t lost = newest.counted(&log::LaneCounters::overwritten);
  CHECK(lost > 0);
  CHECK(read.overwritten_events() == lost);
  CHECK(read.event_count() + lost == whole.log.tally().events);
  CHECK(newest.log.size() < whole.log.size());
  CHECK(newest.log.overwritten_until_ns() > 0);
  CHECK(whole.log.overwritten_until_ns() == -1);
}

TEST_CASE("tracegen: options") {
  const Options options = parse_options({"-o", "x", "--mix", "only,rma=2", "--sizes", "8:64",
                                         "--fault", "cut:1", "--fault", "missing:2"});
  CHECK(options.weights[static_cast<std::size_t>(StepKind::rma)] == 2);
  CHECK(options.weights[static_cast<std::size_t>(StepKind::nonblocking)] == 0);
  CHECK(options.max_bytes == 64);
  CHECK(options.hosts == 2);
  CHECK(options.is_missing(2));
  CHECK_FALSE(options.is_missing(1));
  CHECK(options.fault_of(1, Fault::Kind::cut)->amount == 1000);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--processes", "0"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--mix", "rna=1"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--sizes", "9:8"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--fault", "cut:4"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--window", "5:5"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--window", "5:9:1", "--window", "10:12"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--max-log", "1000"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--comms", "spawned"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--comms", "nobody"}), UsageError);
  CHECK_THROWS_AS(parse_options({"-o", "x", "--matching", "interface", "--network", "tcp"}),
                  UsageError);
  CHECK(parse_options({"-o", "x", "--spawn", "2", "--comms", "spawned"}).uses(Comm::spawned));
}

}  // namespace
}  // namespace uctrace::tracegen
