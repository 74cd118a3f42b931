// Replays a run: when things would have happened if its parts had taken other times.
//
// A thread computes, calls MPI, computes, and so on; a call returns only after others, mostly of
// other processes, have been entered. Dependencies stay as recorded; Times decides how long
// computing and calls take. This is the replay of Dimemas (Labarta, Girona, Pillet, Cortes,
// Gregoris, DiP, Euro-Par 1996) and of Scalasca's simulator, with the recorded order as the order
// of events: what a call depended on was entered before the call was left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/wait_rows.hpp"

namespace uctrace::replay {

enum class Part : std::uint8_t {
  of_run,
  start_of_mpi,  // the process begins when it is left
  end_of_mpi,    // it ends when this is entered
};

// Times as recorded. A call that was not left (end_ns = -1) still lets dependent calls return, but
// is not part of its process's time. A call with an unknown start is left out.
struct Call {
  std::int64_t start_ns = -1, end_ns = -1;
  std::uint32_t process = 0;
  Part part = Part::of_run;
  bool serial = false;     // made while the other threads of its process wait for it (below)
  std::uint16_t lane = 0;  // of its thread
};

// `edges` of each process, calls by their places.
inline void set_parts(std::vector<Call>& calls, const std::vector<EdgesOfMpi>& edges) {
  const auto set = [&](std::int64_t call, Part part) {
    if (call >= 0) calls[static_cast<std::size_t>(call)].part = part;
  };
  for (const EdgesOfMpi& of_process : edges) {
    set(of_process.start(), Part::start_of_mpi);
    set(of_process.end(), Part::end_of_mpi);
  }
}

inline constexpr std::int32_t kNoCall = -1;

// A CallDependency, calls by their places.
struct Dependency {
  DependencyKind kind = DependencyKind::message;
  std::int32_t call = kNoCall, begun = kNoCall, on = kNoCall;
  std::int32_t message = -1;
  std::int32_t operation = -1;  // 0, 1, ...
};

// `row` of a run that has fewer than 2^31 of each.
inline Dependency dependency_of(const CallDependency& row) {
  const auto place = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
  return {row.kind,      place(row.call),    place(row.begun),
          place(row.on), place(row.message), place(row.operation)};
}

// For one thread: the time between the end of its last call, or of its latest wait since, and the
// next call.
struct Computing {
  std::uint32_t process = 0;
  std::uint16_t lane = 0;
  std::int64_t from_ns = 0, to_ns = 0;  // as recorded
  std::int32_t next = kNoCall;          // the call that is entered
};

// How long parts of the run take in the replay: nanoseconds, none below 0.
class Times {
 public:
  virtual ~Times() = default;
  virtual std::int64_t computing_ns(const Computing& computing) {
    return computing.to_ns - computing.from_ns;
  }
  // `ns`: how long it took as recorded once all that the call depends on was there.
  virtual std::int64_t in_call_ns(std::int32_t call, std::int64_t ns) {
    static_cast<void>(call);
    return ns;
  }
  // How long the message takes once it was begun, at both ends where `both`; no value: as long as
  // it did, which is a part of the time in the call.
  struct Way {
    std::int64_t ns = 0;
    bool both = false;
  };
  virtual std::optional<Way> way_of(std::int32_t message) {
    static_cast<void>(message);
    return std::nullopt;
  }
  // Whether the call also waited for what is no dependency: then what it took is not all the way of
  // its messages.
  virtual bool waits_for_unknown(std::int32_t call) {
    static_cast<void>(call);
    return false;
  }
  // Called for each call that is left, with its replayed entry and exit.
  virtual void replayed(std::int32_t call, std::int64_t entered_ns, std::int64_t left_ns) {
    static_cast<void>(call);
    static_cast<void>(entered_ns);
    static_cast<void>(left_ns);
  }
};

struct ProcessTimes {
  bool takes_part = false;                // it has calls
  std::int64_t begin_ns = 0, end_ns = 0;  // end of MPI_Init, start of MPI_Finalize, in the replay
  std::int64_t computing_ns = 0;          // of that, outside MPI; summed over threads
};

struct Replayed {
  std::vector<ProcessTimes> processes;
  // Of all calls but MPI_Init and MPI_Finalize: recorded time, waiting part, and both as replayed.
  std::uint64_t calls = 0;
  std::uint64_t followed = 0;  // dependencies
  // Dependencies that are not followed: those contradicted by recorded times, because the earlier
  // call was entered after the later one had been left; and those with unknown times.
  std::uint64_t contradicted = 0, unknown = 0;
};

// The time in a call is, as recorded and as replayed,
//
//   end = max(start, entries of its dependencies) + remainder
//
// where the remainder comes from the recorded times and then goes through Times::in_call_ns. If
// nothing is changed, each call is entered and left as recorded, to the nanosecond.
//
// Each thread of a process (lane) has its own line of time. Two things connect them:
//
// * A call that ends what another thread of its process began (Dependency::begun) is entered after
//   that was. This is a fact.
// * A serial call is entered after all calls of its process that were left before it. A thread that
//   is outside calls during all of a serial call continues after its end; so does a thread without
//   calls so far. This is a heuristic of the code that marks calls as serial: waits between threads
//   are not recorded.
//
// Either is only one of the terms of a call's start,
//
//   start = max(end of the thread's last call, its other dependencies) + remainder
//
// so a replay without changes stays exact.
//
// n log n for n calls and dependencies; 48 bytes per call besides the input.
Replayed replay(const std::vector<Call>& calls, std::vector<Dependency> dependencies,
                std::size_t processes, Times& times);

}  // namespace uctrace::replay
