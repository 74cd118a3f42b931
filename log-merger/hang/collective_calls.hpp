// The collective calls of each process on each communicator, in order. All members of a
// communicator call its collective operations in the same order (MPI standard, 6.12 "Correctness"),
// so the k-th calls of its members are one operation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/hang/comm_members.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/waits/numbers_of_objects.hpp"

namespace uctrace::merge {

// How a function depends on the other members of its communicator.
enum class CollectiveKind : std::uint8_t {
  none,
  synchronising,  // nobody leaves before all have entered
  partial,        // it needs some others: a root, those before it, its neighbours
};
CollectiveKind collective_kind(const std::string& function);

// "MPI_Barrier" and "MPI_Barrier_c" are the same, MPI_Ibarrier is not.
bool same_collective(const std::string& a, const std::string& b);

// Members of a communicator that are in another operation.
struct OtherOperation {
  std::string function;
  CallIndex example;
  RankGroupRef members;
};

// A collective call compared with those of the other members.
struct CollectiveState {
  std::size_t number = 0;              // the k of its instance, from 1
  RankGroupRef not_entered;            // members with fewer calls
  std::vector<OtherOperation> others;  // members whose k-th call is another function
  std::string unsure;                  // why the counts may be wrong, "" = they are certain
};

class CollectiveCalls {
 public:
  CollectiveCalls(const Job& job, CommMembers& members);

  // For a collective call, open or finished, whose communicator is known.
  const CollectiveState& state_of(CallIndex call);
  // The number of a call's window among those of its communicator, -1 = it has none.
  std::int32_t window_of(const MpiCall& call);

 private:
  // A communicator, or one of its windows, by number.
  struct Domain {
    InstanceIndex instance;
    bool on_window = false;
    std::int32_t window = -1;
    auto operator<=>(const Domain&) const = default;
  };

  Domain domain_of(const MpiCall& call);
  const std::vector<CallIndex>& calls_of(ProcessIndex process, const Domain& domain) const;
  CollectiveState find(const Domain& domain, std::size_t number, const std::string& function);
  std::string why_unsure(const RankGroup& members) const;

  const Job& job_;
  CommMembers& members_;
  std::unordered_map<ProcessIndex, NumbersOfObjects> windows_;
  std::map<std::pair<ProcessIndex, Domain>, std::vector<CallIndex>> calls_;
  std::map<std::tuple<Domain, std::size_t, std::string>, CollectiveState> states_;
};

// Why events of a process may be missing from its log, "" = none are.
std::string why_incomplete(const Job& job, ProcessIndex process);

}  // namespace uctrace::merge
