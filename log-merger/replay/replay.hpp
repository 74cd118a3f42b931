// A run gone through again: what would have happened when, had its parts taken other times.
//
// A thread computes, calls MPI, computes, and so on; a call returns only after others, mostly of
// other processes, have been entered. What depends on what stays as it was recorded; how long
// computing and calls take is up to Times. This is the replay of Dimemas (Labarta, Girona, Pillet,
// Cortes, Gregoris, DiP, Euro-Par 1996) and of Scalasca's simulator, with the recorded order as the
// order of events: what a call depended on was entered before the call was left.
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

// Times as recorded. A call that was not left (end_ns = -1) lets others return that depend on it,
// and is no part of its process's time. One of which the start is not known is left out.
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

// Of one thread: what is between the end of its last call, or of what it waited for since, and a
// call that it enters.
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
  // Told of each call that is left: when it was entered and left in the replay.
  virtual void replayed(std::int32_t call, std::int64_t entered_ns, std::int64_t left_ns) {
    static_cast<void>(call);
    static_cast<void>(entered_ns);
    static_cast<void>(left_ns);
  }
};

struct ProcessTimes {
  bool takes_part = false;                // it has calls
  std::int64_t begin_ns = 0, end_ns = 0;  // end of MPI_Init, start of MPI_Finalize, in the replay
  std::int64_t computing_ns = 0;          // of that, outside of MPI; the sum of its threads
};

struct Replayed {
  std::vector<ProcessTimes> processes;
  // Of all calls but MPI_Init and MPI_Finalize: recorded, that it was for others, and, of what is
  // replayed, the same.
  std::uint64_t calls = 0;
  std::uint64_t followed = 0;  // dependencies
  // Dependencies that are not followed: those that the recorded times contradict, as what should
  // have come first was entered after the call had been left; and those whose times are not known.
  std::uint64_t contradicted = 0, unknown = 0;
};

// The time in a call is, as recorded and as replayed,
//
//   end = max(start, entries of what it depends on) + what is left
//
// where what is left comes from the recorded times and then goes through Times::in_call_ns. Where
// nothing is changed, each call is entered and left as it was, to the nanosecond.
//
// Each thread of a process (lane) is a line of time of its own. Two things tie them to each other:
//
// * A call that ends what another thread of its process began (Dependency::begun) is entered after
//   that was. This is a fact.
// * A serial call is entered after all calls of its process that were left before it. A thread that
//   is in no call from before a serial call is entered until it is left goes on from its end, as
//   does one that has not called yet. This is a heuristic of who marks calls as serial: that
//   threads wait for each other is not recorded.
//
// Either is no more than one of the things that a call's start comes from,
//
//   start = max(end of the thread's last call, what else it waits for) + what is left
//
// so that it leaves a replay where nothing is changed as exact as it is.
//
// n log n for n calls and dependencies; 48 bytes a call besides what is given.
Replayed replay(const std::vector<Call>& calls, std::vector<Dependency> dependencies,
                std::size_t processes, Times& times);

}  // namespace uctrace::replay
