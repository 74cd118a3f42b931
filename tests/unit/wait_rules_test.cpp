// The formulas of wait states compared with naive ones: nanosecond by nanosecond.
#include "log-merger/waits/wait_rules.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/sums_of_ranges.hpp"
#include "log-merger/waits/wait_identities.hpp"

using namespace uctrace;
using namespace uctrace::merge;

namespace {

Awaited awaited(std::int32_t by, std::int64_t ready_ns, std::int64_t margin_ns = 0) {
  Awaited one;
  one.wait.cause_process = by;
  one.ready_ns = ready_ns;
  one.margin_ns = margin_ns;
  return one;
}

Awaited unknown(WaitUnknown why) {
  Awaited one;
  one.wait.unknown = why;
  return one;
}

struct Times {
  std::map<std::int32_t, std::int64_t> waited, below_bound;  // by cause
  std::int64_t unknown = 0;
  bool operator==(const Times&) const = default;
};

Times sums_of(const std::vector<Wait>& waits) {
  Times times;
  for (const Wait& wait : waits) {
    if (wait.unknown == WaitUnknown::none) {
      times.waited[wait.cause_process] += wait.ns;
    } else if (wait.unknown == WaitUnknown::below_clock_bound) {
      times.below_bound[wait.cause_process] += wait.unknown_ns;
    } else {
      times.unknown += wait.unknown_ns;
    }
  }
  return times;
}

// Each nanosecond of the call belongs to the next event that was still awaited then.
Times naive(const CallTimes& call, const std::vector<Awaited>& all) {
  Times times;
  bool any_unknown = false;
  for (const Awaited& one : all) any_unknown |= one.wait.unknown != WaitUnknown::none;
  for (std::int64_t ns = call.entered_ns; ns < call.left_ns; ++ns) {
    const Awaited* next = nullptr;
    for (const Awaited& one : all) {
      if (one.wait.unknown != WaitUnknown::none || one.ready_ns <= ns) continue;
      if (next == nullptr || one.ready_ns < next->ready_ns) next = &one;
    }
    if (next == nullptr) {
      times.unknown += any_unknown ? 1 : 0;
    } else if (next->ready_ns - call.entered_ns > next->margin_ns) {
      ++times.waited[next->wait.cause_process];
    } else {
      ++times.below_bound[next->wait.cause_process];
    }
  }
  return times;
}

}  // namespace

TEST_CASE("a wait is the time until the other side was there, and no longer than the call") {
  CHECK(wait_until({10, 30}, 25) == 15);
  CHECK(wait_until({10, 30}, 5) == 0);
  CHECK(wait_until({10, 30}, 40) == 20);
}

TEST_CASE("completion begins when the last one is in and the first one is out") {
  CHECK(completion_of({10, 50}, 30, 45) == 5);
  CHECK(completion_of({10, 50}, 30, 20) == 20);
  CHECK(completion_of({10, 50}, 60, 20) == 0);
}

TEST_CASE("the waits of a call are divided as a naive count divides its nanoseconds") {
  std::mt19937 random(20261124);
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t entered = pick(0, 20);
    const CallTimes call{entered, entered + pick(0, 40)};
    std::vector<Awaited> all;
    for (int i = pick(0, 5); i > 0; --i) {
      // Events at one instant are one cause: which of them is named does not matter.
      const std::int64_t ready = pick(0, 70);
      all.push_back(awaited(static_cast<std::int32_t>(ready), ready, pick(0, 3) == 0 ? 10 : 0));
    }
    for (Awaited& one : all) {
      for (const Awaited& other : all) {
        if (other.ready_ns == one.ready_ns) one.margin_ns = other.margin_ns;
      }
    }
    if (pick(0, 3) == 0) all.push_back(unknown(WaitUnknown::partner));
    const Times expected = naive(call, all);
    CHECK(sums_of(divide_waits(call, all)) == expected);
  }
}

TEST_CASE("waits of a call do not overlap, and moving follows them") {
  Awaited first = awaited(1, 20), second = awaited(2, 26);
  first.done_ns = 24;
  first.wait.message = 5;
  second.wait.message = 6;
  const std::vector<Wait> waits = divide_waits({10, 30}, {second, first});
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].cause_process == 1);
  CHECK(waits[0].t_start_ns == 10);
  CHECK(waits[0].ns == 10);
  CHECK(waits[0].moving_ns == 4);
  CHECK(waits[1].t_start_ns == 20);
  CHECK(waits[1].ns == 6);
  CHECK(waits[1].moving_ns == 4);
}

// MPI 4.0, chapter 6: who needs whom in the collective operations that have a rule.
TEST_CASE("each collective operation with a rule is told by its name, in all of its forms") {
  const std::map<CallRole, std::vector<std::string>> names = {
      {CallRole::barrier, {"barrier"}},
      {CallRole::all_with_all,
       {"allreduce", "allgather", "allgatherv", "alltoall", "reduce_scatter",
        "reduce_scatter_block"}},
      {CallRole::from_root, {"bcast", "scatter", "scatterv"}},
      {CallRole::to_root, {"reduce", "gather", "gatherv"}},
      {CallRole::from_lower_ranks, {"scan", "exscan"}}};
  for (const auto& [role, of_role] : names) {
    for (const std::string& name : of_role) {
      CAPTURE(name);
      const std::string capital =
          std::string("MPI_") + static_cast<char>(name[0] - 'a' + 'A') + name.substr(1);
      CHECK(role_of_call(capital).role == role);
      CHECK_FALSE(role_of_call(capital).begins);
      CHECK(role_of_call("MPI_I" + name).role == role);
      CHECK(role_of_call("MPI_I" + name).begins);
      CHECK(role_of_call(capital + "_init").role == CallRole::manages);
      CHECK(role_of_starts(capital + "_init") == role);
    }
  }
}

TEST_CASE("what calls do while others may be late is told by their names") {
  CHECK(role_of_call("MPI_Recv").role == CallRole::message);
  CHECK(role_of_call("MPI_Irecv").role == CallRole::other);
  CHECK(role_of_call("MPI_Recv_init").role == CallRole::other);
  CHECK(role_of_call("MPI_Waitall").role == CallRole::completes);
  CHECK(role_of_call("MPI_Testall").role == CallRole::other);
  CHECK(role_of_call("MPI_Probe").role == CallRole::probe);
  CHECK(role_of_call("MPI_Iprobe").role == CallRole::other);
  CHECK(role_of_call("MPI_Allreduce_c").role == CallRole::all_with_all);
  CHECK(role_of_call("MPI_Ibcast").role == CallRole::from_root);
  CHECK(role_of_call("MPI_Ibcast").begins);
  CHECK_FALSE(role_of_call("MPI_Bcast").begins);
  CHECK(role_of_call("MPI_Alltoallv").role == CallRole::over_counts);
  CHECK(role_of_call("MPI_Ineighbor_allgather").role == CallRole::with_neighbours);
  CHECK(role_of_call("MPI_Bcast_init").role == CallRole::manages);
  CHECK(role_of_starts("MPI_Bcast_init") == CallRole::from_root);
  CHECK(role_of_starts("MPI_Ibcast") == CallRole::other);
  CHECK(role_of_starts("MPI_Send_init") == CallRole::other);
  CHECK(role_of_call("MPI_Comm_spawn").role == CallRole::with_others);
  CHECK(role_of_call("MPI_Comm_idup").begins);
  CHECK(role_of_call("MPI_File_open").role == CallRole::opens_file);
  CHECK(role_of_call("MPI_File_write_at_all").role == CallRole::on_file);
  CHECK(role_of_call("MPI_File_write_at").role == CallRole::moves);
  CHECK(role_of_call("MPI_Win_lock_all").role == CallRole::lock_all);
  CHECK(role_of_call("MPI_Comm_split").role == CallRole::manages);
  CHECK(role_of_call("MPI_Win_fence").role == CallRole::fence);
  CHECK(role_of_call("MPI_Put").role == CallRole::one_sided);
  CHECK(role_of_call("MPI_Init_thread").role == CallRole::start_of_mpi);
  CHECK(role_of_call("MPI_Comm_set_name").role == CallRole::other);
}

TEST_CASE("what is added to ranges is what a naive list has") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = 1 + random() % 20;
    SumsOfRanges sums(count);
    std::vector<double> naive_sums(count);
    for (int i = 0; i < 30; ++i) {
      const std::size_t first = random() % count, end = first + random() % (count - first + 1);
      const double value = static_cast<double>(random() % 100);
      sums.add(first, end, value);
      for (std::size_t place = first; place < end; ++place) naive_sums[place] += value;
    }
    for (std::size_t place = 0; place < count; ++place) {
      CHECK(sums.at(place) == doctest::Approx(naive_sums[place]));
    }
  }
}

namespace {

// Rank 0 sends late, rank 1 waits for it.
Run waiting_run() {
  Run run;
  run.processes.resize(2);
  const TextId send = run.texts.intern("MPI_Send"), receive = run.texts.intern("MPI_Recv");
  const TextId init = run.texts.intern("MPI_Init");
  const auto add_call = [&](std::uint32_t process, TextId function, std::int64_t from,
                            std::int64_t to) {
    MpiCallRow call;
    call.process = process;
    call.function = function;
    call.t_start_ns = from;
    call.t_end_ns = to;
    run.mpi_calls.push_back(call);
  };
  add_call(0, init, 0, 50);
  add_call(0, send, 100, 110);
  add_call(1, receive, 60, 120);
  Wait wait;
  wait.process = 1;
  wait.cause_process = 0;
  wait.call = 2;
  wait.t_start_ns = 60;
  wait.ns = 40;
  run.waits.push_back(wait);
  RankTime sender, receiver;
  sender.mpi_ns = sender.moving_ns = 10;
  receiver.process = 1;
  receiver.mpi_ns = 60;
  receiver.waiting_ns = 40;
  receiver.moving_ns = 20;
  run.rank_times = {sender, receiver};
  run.delays = {{0, send, -1, 1, 40, 0}};
  return run;
}

std::string violated(const Run& run) {
  std::string names;
  for (const Identity& identity : wait_identities(run)) {
    if (identity.result == Verdict::violated) names += identity.name + " ";
  }
  return names;
}

}  // namespace

TEST_CASE("the identities of waits hold, and each of them can be violated") {
  CHECK(violated(waiting_run()).empty());
  Run lost = waiting_run();
  lost.rank_times[1].moving_ns -= 1;
  CHECK(violated(lost) == "waits ");
  Run shifted = waiting_run();  // the sums agree, the ranks do not
  shifted.rank_times[0].moving_ns += 5;
  shifted.rank_times[1].moving_ns -= 5;
  CHECK(violated(shifted) == "waits ");
  Run hidden = waiting_run();  // it adds up, but the waits say otherwise
  hidden.rank_times[1].waiting_ns -= 5;
  hidden.rank_times[1].moving_ns += 5;
  CHECK(violated(hidden) == "waits ");
  Run forgotten = waiting_run();
  forgotten.delays[0].direct_ns -= 5;
  CHECK(violated(forgotten) == "delays ");
}
