// What the arguments of UCC's functions say. Layouts and values are those of ucc.h: every release
// from 1.0 to 1.9 has these fields at these places, and only adds behind them. Private to
// library-attribution/.
#pragma once

#include <cstdint>

#include "library-attribution/call.h"

namespace uctrace::library {

struct UccArguments {
  std::uint64_t bytes;   // that this process puts in, as its arguments count them
  std::int32_t root;     // member of the team; kUctraceNoPeer if it has none
  std::uint32_t number;  // of the operation (log::UccOperation); kNoOperation if it is not known
  bool knows_bytes;

  static constexpr std::uint32_t kNoOperation = UINT32_MAX;
};

// Reads a ucc_coll_args_t that UCC has accepted for this team. Counts of each member are read only
// where the team's size is known. Costs a look into a table of teams.
UccArguments read_ucc_arguments(const void* arguments, std::uint64_t team);

// A team was made with this ucc_team_params_t, or is about to go. Not for the record path: they
// take a lock.
void remember_ucc_team(std::uint64_t team, const void* params);
void forget_ucc_team(std::uint64_t team);

// The request of a ucc_ev_t.
std::uint64_t request_of_ucc_event(const void* event);

}  // namespace uctrace::library
