// Facts about an MPI function from its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uctrace {

enum class MpiKind : std::uint8_t { p2p, completion, rma, collective, io, management };
inline constexpr MpiKind kMpiKinds[] = {MpiKind::p2p, MpiKind::completion,
                                        MpiKind::rma, MpiKind::collective,
                                        MpiKind::io,  MpiKind::management};
const char* name_of(MpiKind);

struct MpiName {
  std::string base;  // what it does, such as "allgatherv" of MPI_Iallgatherv_c; else as it is
  MpiKind kind = MpiKind::management;
  bool nonblocking = false;    // MPI_I...
  bool persistent = false;     // ..._init
  bool only_receives = false;  // data that another process gives, or has
};

MpiName parse_mpi_name(std::string_view function);

// Functions that start or end MPI in a process, or a session.
enum class MpiEdge : std::uint8_t { none, init, finalize, session_init, session_finalize };
MpiEdge edge_of_mpi(std::string_view function);

// Whether it is one of these: their time is kept apart from all totals of MPI time.
inline bool starts_or_ends_mpi(std::string_view function) {
  return edge_of_mpi(function) != MpiEdge::none;
}

// Of the world, not of a session.
inline bool starts_or_ends_world(std::string_view function) {
  const MpiEdge edge = edge_of_mpi(function);
  return edge == MpiEdge::init || edge == MpiEdge::finalize;
}

// The calls between which a process uses MPI: MPI_Init and MPI_Finalize. Without these, the first
// session to begin and the last to end, unless a session with an unknown other end may have existed
// before or after.
class EdgesOfMpi {
 public:
  // Its calls, in any order. `call` is its number, >= 0.
  void add(MpiEdge edge, std::int64_t call, std::int64_t start_ns);

  // Numbers of calls, -1 = none.
  std::int64_t start() const;
  std::int64_t end() const;

 private:
  std::int64_t init_ = -1, finalize_ = -1, first_session_ = -1, last_session_ = -1;
  std::int64_t first_begin_ns_ = INT64_MAX, last_begin_ns_ = INT64_MIN;  // of sessions
  std::int64_t first_end_ns_ = INT64_MAX, last_end_ns_ = INT64_MIN;
  std::int64_t sessions_ = 0;  // begun, less those that ended
};

// Whether a message sent by `function` with UCP's `protocol` completes at its sender only when the
// receiver takes it: rendezvous, or a synchronous send. An eager message does not need the
// receiver.
bool needs_receiver(std::string_view protocol, std::string_view function);

}  // namespace uctrace
