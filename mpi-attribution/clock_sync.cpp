#include "mpi-attribution/clock_sync.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/clock_channel.hpp"
#include "mpi-attribution/clock_leaders.hpp"

namespace uctrace::mpi {

namespace {

using log::ClockSample;
using log::monotonic_raw_ns;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kGatherNs = 1000 * kMs;  // for all processes to come out of MPI_Init
constexpr std::uint64_t kMeetNs = 2000 * kMs;    // for two leaders to meet
constexpr std::uint64_t kAnswerNs =
    2000 * kMs;  // for an answer from a leader that is known to be there
constexpr std::uint64_t kStartNs = 100 * kMs;  // for all measurements at the start together
constexpr std::uint64_t kBlockNs = 50 * kMs;   // for one measurement
constexpr std::uint64_t kMostBlocks = 5;       // while it is much worse than at the start
constexpr std::uint32_t kWarmUps = 20;         // while connections are made
constexpr std::uint32_t kEnough = 30;          // round trips about as short as the shortest

// Ends the questions; the other word says whether there is a result or the asking side gave up.
constexpr std::uint64_t kNoMore = 0;
enum Result : std::uint64_t { kGone = 0, kMeasured = 1 };

// Abandoned messages of the start must not be taken for those of the end.
enum class Tag : int { ready = 0, question = 1, answer = 2 };
int tag_of(Tag tag, ClockSample::End end) { return static_cast<int>(tag) + 4 * end; }

// The result of the start for a pair, for use at the end. A round trip of 0: no result.
struct Known {
  std::uint64_t round_trip_ns;
  std::uint64_t ahead_ns;  // of the other clock, modulo 2^64; known on the asking side
};

struct Team {
  Word communicator;
  ClockLeader* leaders;  // never given back: the end needs it
  std::size_t count;
  std::size_t own;         // index; `count`: this process is no leader
  Known* known;            // by step
  ClockChannel* channels;  // by step
};
constinit Team team{};

// --- whether to measure --------------------------------------------------------------------------

bool is_set_to(const char* variable, const char* value) {
  const char* found = getenv(variable);
  return found != nullptr && strcmp(found, value) == 0;
}

// By the number of local processes that launchers tell. Not told: there may be other hosts.
bool is_alone_on_host(int world_size) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* local = getenv(name);
    if (local != nullptr) return atoi(local) >= world_size;
  }
  return is_set_to("SLURM_STEP_NUM_NODES", "1");
}

// All processes of the world must come to the same answer.
bool is_wanted(int world_size) {
  if (world_size < 2 || is_set_to("UCTRACE_CLOCK", "off")) return false;
  if (is_set_to("UCTRACE_CLOCK", "on")) return true;
  return is_set_to("UCTRACE_EVERY_RANK", "1") && !is_alone_on_host(world_size);
}

// Processes that were spawned by others were not started together by `record`.
bool is_spawned() {
  Word parent = 0;
  library.ask.comm_get_parent(&parent);
  return library.handle(parent) != library.comm_null;
}

// --- the team ------------------------------------------------------------------------------------

template <typename Item>
Item* allocate(std::size_t count) {
  return static_cast<Item*>(calloc(count, sizeof(Item)));
}

// False: not in time. The request is kept: other processes may still wait for its progress.
bool make_communicator(std::uint64_t deadline_ns) {
  static constinit Word made = 0, request = 0;
  if (library.messaging.comm_idup(library.comm_world, &made, &request) != 0 ||
      outcome_of(request, deadline_ns) != Outcome::over ||
      library.messaging.comm_set_errhandler(made, library.errors_return) != 0) {
    return false;
  }
  team.communicator = made;
  return true;
}

bool gather_clocks(std::uint64_t* clocks, std::uint64_t deadline_ns) {
  static constinit std::uint64_t own = 0;
  log::ProcessPage page{};
  log::fill_clock_name(page);
  own = log::clock_name(page.boot_id, page.time_namespace);
  Word request = 0;
  return library.messaging.iallgather(&own, sizeof own, library.byte, clocks, sizeof own,
                                      library.byte, team.communicator, &request) == 0 &&
         outcome_of(request, deadline_ns) == Outcome::over;
}

bool make_team(int rank, int world_size) {
  const std::uint64_t deadline_ns = monotonic_raw_ns() + kGatherNs;
  const auto processes = static_cast<std::size_t>(world_size);
  // A collective that was given up may still write here: these are then not freed.
  auto* clocks = allocate<std::uint64_t>(processes);
  team.leaders = allocate<ClockLeader>(processes);
  if (clocks == nullptr || team.leaders == nullptr || !make_communicator(deadline_ns) ||
      !gather_clocks(clocks, deadline_ns)) {
    return false;  // NOLINT(clang-analyzer-unix.Malloc)
  }
  for (std::size_t i = 0; i < processes; ++i) {
    team.leaders[i] = {clocks[i], static_cast<std::int32_t>(i)};
  }
  free(clocks);
  team.count = choose_leaders(team.leaders, processes);
  team.own = 0;
  while (team.own < team.count && team.leaders[team.own].rank != rank) ++team.own;
  const std::size_t steps = measuring_steps(team.count);
  team.known = allocate<Known>(steps + 1);
  team.channels = allocate<ClockChannel>(steps + 1);
  return team.known != nullptr && team.channels != nullptr;
}

// --- measuring -----------------------------------------------------------------------------------

struct Found {
  std::uint64_t round_trip_ns = UINT64_MAX;
  std::uint64_t own_ns = 0, peer_ns = 0;
  std::uint32_t round_trips = 0;
  std::uint32_t as_short = 0;  // within a tenth of the shortest

  void take(std::uint64_t sent_ns, std::uint64_t peer_then_ns, std::uint64_t back_ns) {
    const std::uint64_t took = back_ns - sent_ns;
    ++round_trips;
    if (took < round_trip_ns) {
      as_short = took < round_trip_ns / 10 * 9 ? 0 : as_short;
      round_trip_ns = took;
      own_ns = sent_ns + took / 2;
      peer_ns = peer_then_ns;
    }
    as_short += took <= round_trip_ns + round_trip_ns / 10;
  }
};

void record(const Found& found, const ClockLeader& peer, ClockSample::End end) {
  log::Lane* lane = log::lane();
  auto* record = lane == nullptr ? nullptr : lane->define<ClockSample>();
  if (record == nullptr) return;
  record->tick = log::now();
  record->own_ns = found.own_ns;
  record->peer_ns = found.peer_ns;
  record->round_trip_ns = found.round_trip_ns;
  record->peer_clock = peer.clock;
  log::publish(record, log::RecordType::clock_sample, sizeof *record / 8, end, found.round_trips);
}

// Nobody may send a message that is not received: UCX warns the user of messages that it has to
// discard. So the answering side says until when it waits, and the asking side says if it gave up.
bool meet(ClockChannel& channel, ClockSample::End end, const Known& known, std::uint64_t by_ns) {
  constexpr std::uint64_t kUnderWayNs = 50 * kMs;  // for messages sent before ours arrives
  constexpr std::uint64_t kMarginNs = 500 * kMs;
  channel.expect(tag_of(Tag::ready, end));
  const ClockMessage* ready = channel.wait(by_ns);
  if (ready == nullptr) {
    channel.send(tag_of(Tag::question, end), {kNoMore, kGone});
    channel.wait(monotonic_raw_ns() + kUnderWayNs);
    return false;
  }
  const std::uint64_t until_ns = ready->clock_ns + known.ahead_ns;
  return known.round_trip_ns == 0 ||
         static_cast<std::int64_t>(until_ns - monotonic_raw_ns() - kMarginNs) > 0;
}

// If even the shortest round trip is much longer than at the start, the machine is busy at the
// moment.
Found ask(ClockChannel& channel, ClockSample::End end, const Known& known, std::uint64_t limit_ns) {
  Found found;
  const std::uint64_t good_ns = known.round_trip_ns == 0 ? UINT64_MAX : 3 * known.round_trip_ns;
  const std::uint64_t until_ns = monotonic_raw_ns() + limit_ns;
  for (std::uint64_t number = 1; found.round_trips == 0 || monotonic_raw_ns() < until_ns;
       ++number) {
    channel.expect(tag_of(Tag::answer, end));
    const std::uint64_t sent_ns = monotonic_raw_ns();
    channel.send(tag_of(Tag::question, end), {number, 0});
    const ClockMessage* answer = channel.wait(sent_ns + kAnswerNs);
    const std::uint64_t back_ns = monotonic_raw_ns();
    if (answer == nullptr) return {};
    // Without time left, a warm-up counts, too.
    if (number > kWarmUps || back_ns >= until_ns) found.take(sent_ns, answer->clock_ns, back_ns);
    if (found.as_short >= kEnough && found.round_trip_ns <= good_ns) break;
  }
  channel.send(tag_of(Tag::question, end), {kNoMore, kMeasured});
  return channel.usable() ? found : Found{};
}

bool answer(ClockChannel& channel, ClockSample::End end, std::uint64_t patience_ns) {
  const std::uint64_t until_ns = monotonic_raw_ns() + patience_ns;
  channel.expect(tag_of(Tag::question, end));
  // The asking side may have come first.
  const ClockMessage* question = channel.wait(monotonic_raw_ns() + kMs);
  if (question == nullptr) {
    channel.send(tag_of(Tag::ready, end), {0, until_ns});
    question = channel.wait(until_ns);
  }
  while (question != nullptr && question->number != kNoMore) {
    const ClockMessage back{question->number, monotonic_raw_ns()};
    channel.expect(tag_of(Tag::question, end));
    channel.send(tag_of(Tag::answer, end), back);
    question = channel.wait(monotonic_raw_ns() + kAnswerNs);
  }
  return question != nullptr && question->clock_ns == kMeasured;
}

void measure_in(std::size_t step, ClockSample::End end, std::uint64_t meet_by_ns,
                std::uint64_t limit_ns) {
  const ClockPartner partner = partner_in(step, team.own, team.count);
  if (partner.role == ClockPartner::Role::none) return;
  ClockChannel& channel = team.channels[step];
  Known& known = team.known[step];
  const ClockLeader& peer = team.leaders[partner.index];
  channel.open(team.communicator, peer.rank);
  if (partner.role == ClockPartner::Role::asks) {
    const Found found =
        meet(channel, end, known, meet_by_ns) ? ask(channel, end, known, limit_ns) : Found{};
    if (found.round_trips > 0) record(found, peer, end);
    known = {found.round_trips > 0 ? found.round_trip_ns : 0, found.own_ns - found.peer_ns};
  } else {
    // At the start it has to wait for the turns before its own.
    const std::uint64_t turns = end == ClockSample::at_start ? step + 2 : 1;
    known.round_trip_ns = answer(channel, end, turns * kMeetNs) ? 1 : 0;
  }
  channel.close();
}

// The remaining time is shared by the leaders that are still to be asked.
void measure_at_start() {
  const std::size_t steps = measuring_steps(team.count);
  const std::uint64_t begin_ns = monotonic_raw_ns(), until_ns = begin_ns + kStartNs;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t now_ns = monotonic_raw_ns();
    const std::uint64_t left_ns = now_ns < until_ns ? until_ns - now_ns : 0;
    measure_in(step, ClockSample::at_start, begin_ns + kMeetNs,
               std::min(kBlockNs, left_ns / (steps - step)));
  }
}

void measure_at_end() {
  const std::size_t steps = measuring_steps(team.count);
  const std::uint64_t begin_ns = monotonic_raw_ns();
  for (std::size_t step = 0; step < steps; ++step) {
    if (team.known[step].round_trip_ns != 0) {
      measure_in(step, ClockSample::at_end, begin_ns + kMeetNs, kBlockNs * kMostBlocks);
    }
  }
}

// UCX operations during these times belong to uctrace: they are recorded, and recognised by these
// times.
class ToolTraffic {
 public:
  ToolTraffic() : begin_tick_(log::now()), sends_before_(sends()), saved_errno_(errno) {}
  ~ToolTraffic() {
    log::Lane* lane = log::lane();
    if (auto* record = lane == nullptr ? nullptr : lane->define<log::ToolTraffic>()) {
      record->tick = begin_tick_;
      record->end_tick = log::now();
      record->sends = sends() - sends_before_;
      log::publish(record, log::RecordType::tool_traffic, sizeof *record / 8, 0, 0);
    }
    errno = saved_errno_;
  }
  ToolTraffic(const ToolTraffic&) = delete;
  ToolTraffic& operator=(const ToolTraffic&) = delete;

 private:
  // Of this thread so far: MPI libraries send such messages with tags or as active messages.
  static std::uint64_t sends() {
    log::Lane* lane = log::lane();
    return lane == nullptr ? 0 : lane->counters().ucp_sends + lane->counters().ucp_am_sends;
  }

  std::uint64_t begin_tick_, sends_before_;
  int saved_errno_;
};

}  // namespace

void measure_clocks_at_start() {
  int rank = 0, size = 0;
  library.ask.comm_rank(library.comm_world, &rank);
  library.ask.comm_size(library.comm_world, &size);
  if (!is_wanted(size) || is_spawned() || log::counts_only()) return;
  if (!library.can_message) {
    log::fault(log::Layer::mpi, log::FaultCode::clock_not_measured, 0,
               "the MPI library lacks non-blocking collectives");
    return;
  }
  const ToolTraffic traffic;
  if (make_team(rank, size)) {
    if (team.own < team.count) measure_at_start();
    return;
  }
  team.count = 0;
  log::fault(log::Layer::mpi, log::FaultCode::clock_not_measured, 0,
             "the processes did not come together within a second of MPI_Init");
}

void measure_clocks_at_end() {
  if (team.own >= team.count || team.count < 2) return;
  const ToolTraffic traffic;
  measure_at_end();
}

}  // namespace uctrace::mpi
