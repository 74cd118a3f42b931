// The times of a run's parts under the hypotheses. Private to the simulation.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "log-merger/simulate/even_partitions.hpp"
#include "log-merger/simulate/hypotheses.hpp"
#include "log-merger/simulate/network_change.hpp"
#include "log-merger/simulate/recorded_calls.hpp"

namespace uctrace {

// First faster parts, then partitions, then balancing of the rest.
class ChangedTimes final : public replay::Times {
 public:
  // `recorded` must outlive it. Throws Error for names that do not occur in the run.
  ChangedTimes(const RowSource& source, const RecordedCalls& recorded,
               const Hypotheses& hypotheses);

  std::int64_t computing_ns(const replay::Computing& computing) override;
  std::int64_t in_call_ns(std::int32_t call, std::int64_t ns) override;
  std::optional<Way> way_of(std::int32_t message) override;
  bool waits_for_unknown(std::int32_t call) override {
    return recorded_.waits_for_unknown[static_cast<std::size_t>(call)];
  }

  const EvenedPartitions& partitions() const { return partitions_; }
  const ChangedNetwork& network() const { return network_; }
  // How many MPI calls, or computing intervals, each of Hypotheses::faster selected.
  const std::vector<std::uint64_t>& calls_of_faster() const { return calls_of_faster_; }
  std::size_t phases() const { return phases_; }

 private:
  struct Chosen {
    double factor = 1;
    bool computing = false;
    std::vector<bool> functions, call_sites;  // empty: all of them, of computing; else none
    std::vector<bool> processes;
  };

  Chosen chosen(const RowSource& source, const Faster& faster) const;
  void refuse_ends_of_mpi(const Faster& faster, const Chosen& one) const;
  void balance(const RowSource& source, const Hypotheses& hypotheses);
  // Before it is evened out.
  std::int64_t unbalanced_ns(const replay::Computing& computing) const;
  std::size_t phase_of(const replay::Computing& computing) const;
  bool chooses(const Chosen& one, std::int32_t call, bool computing) const;

  const RecordedCalls& recorded_;
  std::vector<Chosen> faster_;
  std::vector<std::uint64_t> calls_of_faster_;
  EvenedPartitions partitions_;
  ChangedNetwork network_;
  std::vector<std::vector<std::int64_t>> phase_ends_ns_;  // by process; empty: the run is one
  std::vector<std::vector<double>> balance_;              // by process and phase; empty: as it was
  std::size_t phases_ = 1;
};

}  // namespace uctrace
