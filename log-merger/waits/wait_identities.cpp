#include "log-merger/waits/wait_identities.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "log-merger/model/durations.hpp"
#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

std::uint64_t number(std::int64_t ns) { return static_cast<std::uint64_t>(ns); }

// For each process, from the rows of its returned calls, without MPI's own start and end.
std::vector<std::int64_t> time_in_mpi(const Run& run) {
  std::vector<std::int64_t> ns(run.processes.size());
  std::unordered_map<TextId, bool> counts;
  for (const MpiCallRow& call : run.mpi_calls) {
    const auto [place, fresh] = counts.try_emplace(call.function);
    if (fresh) place->second = !starts_or_ends_mpi(run.texts[call.function]);
    if (place->second && call.t_start_ns >= 0 && call.t_end_ns >= call.t_start_ns) {
      add_ns(ns[call.process], duration_ns(call.t_start_ns, call.t_end_ns));
    }
  }
  return ns;
}

Identity times_of_ranks(const Run& run) {
  std::vector<std::int64_t> in_mpi = time_in_mpi(run), waited(run.processes.size());
  std::int64_t left = 0, right = 0;
  for (const std::int64_t ns : in_mpi) add_ns(left, ns);
  for (const Wait& wait : run.waits) {
    const bool counts = is_in_totals(wait.kind);
    if (counts) add_ns(waited[wait.process], wait.ns);
  }
  for (const RankTime& rank : run.rank_times) {
    std::int64_t sum = 0;
    for (const std::int64_t ns :
         {rank.waiting_ns, rank.moving_ns, rank.unknown_ns, rank.other_ns}) {
      add_ns(sum, ns);
    }
    add_ns(right, sum);
    in_mpi[rank.process] -= sum;
    waited[rank.process] -= rank.waiting_ns;
  }
  const auto is_zero = [](std::int64_t ns) { return ns == 0; };
  const bool holds = std::all_of(in_mpi.begin(), in_mpi.end(), is_zero) &&
                     std::all_of(waited.begin(), waited.end(), is_zero);
  return {"waits",
          "job",
          "time in MPI calls = waiting + moving + unknown + the rest, of each rank",
          number(left),
          number(right),
          holds ? Verdict::holds : Verdict::violated};
}

Identity costs_of_waits(const Run& run) {
  std::int64_t waited = 0, laid = 0;
  for (const Wait& wait : run.waits) {
    if (has_cost(wait)) add_ns(waited, wait.ns);
  }
  for (const Delay& delay : run.delays) {
    add_ns(laid, delay.direct_ns);
    add_ns(laid, delay.passed_on_ns);
  }
  // A row has two rounded numbers; costs that pass through many waits lose a fraction of a
  // nanosecond at each.
  const auto lost = static_cast<std::int64_t>(run.delays.size() + run.waits.size() / 16 + 1);
  return {"delays",
          "job",
          "time waited = time laid on the work of who was late, but for rounding",
          number(waited),
          number(laid),
          std::abs(waited - laid) <= lost ? Verdict::holds : Verdict::violated};
}

}  // namespace

bool has_cost(const Wait& wait) {
  return wait.ns > 0 && wait.cause_process >= 0 && is_in_totals(wait.kind);
}

std::vector<Identity> wait_identities(const Run& run) {
  return {times_of_ranks(run), costs_of_waits(run)};
}

}  // namespace uctrace::merge
