// How an MPI call depends on late processes, by its name alone. For waits and hangs.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "log-merger/job/job.hpp"
#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

enum class CallRole : std::uint8_t {
  other,             // waits for nobody: it only begins, queries or names something
  start_of_mpi,      // MPI_Init and the like
  end_of_mpi,        // MPI_Finalize
  message,           // sends or receives a message and returns when that is done
  probe,             // returns when a message is there
  completes,         // MPI_Wait and the like
  barrier,           // from here on: over a communicator
  all_with_all,      //
  from_root,         //
  to_root,           //
  from_lower_ranks,  //
  over_counts,       // like all_with_all, but dependencies follow from counts, which are not
                     // recorded
  with_neighbours,   // like this, with the neighbours of each process
  manages,           // makes or frees a communicator, or a request: the library may synchronise
  with_others,       // the same, with processes outside the call's communicator
  opens_file,        // the same, for all processes that open a file together
  on_file,           // their later calls together
  makes_window,      // from here on: over a window
  frees_window,      //
  fence,             //
  post,              //
  start_access,      //
  complete_access,   //
  wait_access,       //
  lock,              //
  unlock,            //
  lock_all,          //
  unlock_all,        //
  one_sided,         // moves data, or waits for it
  moves,             // files: data moves
};

struct RoleOfCall {
  CallRole role = CallRole::other;
  bool begins = false;  // begins a collective operation that a later call completes
};

RoleOfCall role_of_call(std::string_view function);

// The role of starts of the persistent collective request that `function` makes; else `other`.
CallRole role_of_starts(std::string_view function);

// Whether all processes of a communicator make the call, in one order with the others of the kind.
bool is_collective(CallRole role);

// Whether the name does not tell the dependencies: messages may (proven_entries.hpp).
bool has_no_rule(CallRole role);

// Whether MPI allows it to return before all have entered; the times show whether they waited.
bool may_not_synchronise(CallRole role);

// The role by call; each name is parsed once.
class RolesOfCalls {
 public:
  explicit RolesOfCalls(const Job& job) : job_(job) {}
  RoleOfCall operator()(const MpiCall& call) { return of(call).own; }
  CallRole starts(const MpiCall& call) { return of(call).starts; }
  // None for a call, open at the end, that began outside the windows.
  MpiEdge edge(const MpiCall& call) {
    const bool is_seen = !call.open || job_.logs[call.process].whole(call.start_ns, call.start_ns);
    return is_seen ? of(call).edge : MpiEdge::none;
  }

 private:
  struct Known {
    RoleOfCall own;
    CallRole starts = CallRole::other;
    MpiEdge edge = MpiEdge::none;
  };
  const Known& of(const MpiCall& call);

  const Job& job_;
  std::unordered_map<TextId, Known> known_;
};

}  // namespace uctrace::merge
