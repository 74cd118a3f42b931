// The tables of waits (docs/waits.md).
#pragma once

#include <tuple>

#include "log-merger/model/wait_rows.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<Wait> {
  static constexpr const char* name = "waits";
  static constexpr auto columns = std::tuple{
      column("kind", &Wait::kind, "wait state"),
      column("unknown", &Wait::unknown, "why it is not known whether, or how long"),
      column("process", &Wait::process, "process that waited", Unit::process),
      column("cause_process", &Wait::cause_process, "process that it waited for", Unit::process),
      column("call", &Wait::call, "MPI call that waited", Unit::mpi_call),
      column("cause_call", &Wait::cause_call, "MPI call that ended the wait by beginning",
             Unit::mpi_call),
      column("message", &Wait::message, "message that was late", Unit::message),
      column("communicator", &Wait::communicator, "communicator", Unit::communicator),
      column("t_start_ns", &Wait::t_start_ns, "the wait began", Unit::ns),
      column("ns", &Wait::ns, "how long it was", Unit::ns),
      column("unknown_ns", &Wait::unknown_ns, "time of the call that may have been waiting",
             Unit::ns),
      column("moving_ns", &Wait::moving_ns,
             "of a message: from the end of the wait to its own end, or to that of the call if "
             "earlier",
             Unit::ns),
      column("registration_ns", &Wait::registration_ns,
             "of these two: calls that made memory known for the message", Unit::ns),
  };
};

template <>
struct Table<CallDependency> {
  using Row = CallDependency;
  static constexpr const char* name = "call_dependencies";
  static constexpr auto columns = std::tuple{
      column("kind", &Row::kind, "what the call depended on"),
      column("call", &Row::call, "MPI call that returned only then", Unit::mpi_call),
      column("begun", &Row::begun, "what its process began it with, itself where it blocks",
             Unit::mpi_call),
      column("on", &Row::on, "MPI call of another process that had to be entered before",
             Unit::mpi_call),
      column("message", &Row::message, "message that was sent or received", Unit::message),
      column("operation", &Row::operation, "the same number for all of a collective operation"),
  };
};

template <>
struct Table<BegunCollective> {
  using Row = BegunCollective;
  static constexpr const char* name = "begun_collectives";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that began it", Unit::process),
      column("begun", &Row::begun, "MPI call that began it", Unit::mpi_call),
      column("made", &Row::made,
             "MPI call that made its request, and has its arguments: the same, but for a "
             "persistent one",
             Unit::mpi_call),
      column("completed", &Row::completed, "MPI call that completed it", Unit::mpi_call),
      column("bytes", &Row::bytes, "what the process hands over", Unit::bytes),
      column("recv_bytes", &Row::recv_bytes, "what it gets", Unit::bytes),
  };
};

template <>
struct Table<Delay> {
  static constexpr const char* name = "delays";
  static constexpr auto columns = std::tuple{
      column("process", &Delay::process, "process that was late", Unit::process),
      column("function", &Delay::function, "MPI function that it came late to", Unit::text),
      column("stack", &Delay::stack, "where it called that", Unit::stack),
      column("waits", &Delay::waits, "that waited for it there"),
      column("direct_ns", &Delay::direct_ns, "of these, by its own work", Unit::ns),
      column("passed_on_ns", &Delay::passed_on_ns,
             "of those that waited for who waited for it, and so on", Unit::ns),
  };
};

template <>
struct Table<CriticalPart> {
  using Row = CriticalPart;
  static constexpr const char* name = "critical_path";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that the path leads through", Unit::process),
      column("function", &Row::function, "MPI function", Unit::text),
      column("stack", &Row::stack, "where it called that", Unit::stack),
      column("work_ns", &Row::work_ns, "outside MPI, before these calls", Unit::ns),
      column("mpi_ns", &Row::mpi_ns, "in these calls", Unit::ns),
  };
};

template <>
struct Table<RankTime> {
  using Row = RankTime;
  static constexpr const char* name = "rank_times";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process whose times they are", Unit::process),
      column("threads", &Row::threads, "that called MPI"),
      column("calls", &Row::calls, "MPI calls of which start and end are known"),
      column("t_begin_ns", &Row::t_begin_ns,
             "end of MPI_Init or the first MPI_Session_init, else the first call", Unit::ns),
      column(
          "t_end_ns", &Row::t_end_ns,
          "start of MPI_Finalize or the last MPI_Session_finalize, else the end of the last call",
          Unit::ns),
      column("ideal_ns", &Row::ideal_ns,
             "from t_begin_ns to t_end_ns over a network that moves everything at once; null: "
             "calls in between were not recorded",
             Unit::ns),
      column("start_and_end_ns", &Row::start_and_end_ns,
             "in MPI_Init, MPI_Finalize, and of sessions", Unit::ns),
      column("sessions_ns", &Row::sessions_ns,
             "of start_and_end_ns: of sessions, from t_begin_ns to t_end_ns", Unit::ns),
      column("mpi_ns", &Row::mpi_ns, "in all other MPI calls", Unit::ns),
      column("waiting_ns", &Row::waiting_ns, "of mpi_ns: for other processes", Unit::ns),
      column("moving_ns", &Row::moving_ns, "of mpi_ns: while data moved", Unit::ns),
      column("unknown_ns", &Row::unknown_ns, "of mpi_ns: one or the other", Unit::ns),
      column("other_ns", &Row::other_ns, "of mpi_ns: in calls that wait for nobody", Unit::ns),
  };
};

}  // namespace uctrace::store
