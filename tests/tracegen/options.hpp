// The generator's options.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace uctrace::tracegen {

// What all processes do at one time; a job is a sequence of these. docs: README.md.
enum class StepKind : std::uint8_t {
  nonblocking,  // Irecv, Isend, Waitall
  persistent,   // Startall, Waitall
  sendrecv,
  blocking,  // Send and Recv, some of them Ssend
  probe,     // Probe and Recv, or Mprobe and Mrecv
  wildcard,  // receives from any source
  cancel,    // receives that are cancelled
  collective,
  icollective,  // begun in one call and driven by another
  rma,          // put, get, atomics between fences
  am,           // active messages of the program's own
  stream,
  shared_tag,   // two threads use one tag at once: which receive got which send is ambiguous
  am_shared,    // all senders call one handler alike: only the content identifies the sender, or
                // nothing
  partitioned,  // Psend_init, Pready
  file,         // opened, written by all, read and closed
  connected,    // active messages between clients and servers
  kCount
};
inline constexpr auto kStepKinds = static_cast<std::size_t>(StepKind::kCount);
const char* name_of(StepKind kind);

// `parity`: the even and the odd ranks of a world. `inter` joins these two, `spawned` joins two
// worlds: a rank of the one is with those of the other.
enum class Comm : std::uint8_t { world, duplicate, parity, inter, spawned, kCount };
inline constexpr auto kComms = static_cast<std::size_t>(Comm::kCount);
constexpr bool is_inter(Comm comm) { return comm == Comm::inter || comm == Comm::spawned; }

enum class Mpi : std::uint8_t { mpich, open_mpi };
enum class Network : std::uint8_t { rc_mlx5, dc_mlx5, tcp };
// Whose call stacks are kept. `callers`: MPI calls have the address that they return to.
enum class Stacks : std::uint8_t { off, callers, mpi, all };
enum class TruthDetail : std::uint8_t { automatic, totals, full };

// A fault in the log of one rank.
struct Fault {
  enum class Kind : std::uint8_t {
    cut,       // the end of the file is missing: `amount` bytes
    unclosed,  // the process was killed before MPI_Finalize
    dropped,   // records of `amount` steps in the middle were dropped, and counted
    missing    // the process left no log
  };
  Kind kind;
  std::int32_t rank;
  std::uint64_t amount = 0;
};
const char* name_of(Fault::Kind kind);

// Steps in which events are recorded: [from, to). Odd ranks follow `lag` steps later.
struct RecordedSteps {
  std::uint64_t from = 0, to = 0, lag = 0;
};

struct Options {
  std::string folder;
  std::int32_t processes = 4;
  std::uint64_t events = 10000;  // of the job, about
  std::uint64_t seed = 1;
  std::int32_t hosts = 0;  // 0: by the number of processes
  std::int32_t lanes = 1;  // recording threads of a process
  std::int32_t cards = 1;  // network cards of a host
  std::int32_t gpus = 0;   // of every second host, from the first on
  Mpi mpi = Mpi::mpich;
  int protocols = 1;
  Network network = Network::rc_mlx5;
  bool tag_offload = false;  // the network's interfaces match tags
  Stacks stacks = Stacks::off;
  std::uint64_t min_bytes = 0, max_bytes = 256 * 1024;
  std::int32_t burst = 1;             // messages to each neighbour in a step
  std::int32_t drift_ppb = 20000;     // how far the rate of a host's clock may be off
  std::int64_t skew_ns = 50'000'000;  // how far a host's wall clock may be off
  std::int64_t round_trip_ns = 3000;  // of the measurements of clocks
  std::array<std::uint32_t, kStepKinds> weights{8, 2, 3, 3, 1, 2, 1, 3, 1, 2, 2, 1, 1, 1, 0, 0, 0};
  std::int32_t spawned = 0;  // processes of a second MPI_COMM_WORLD
  std::vector<Comm> comms{Comm::world, Comm::duplicate, Comm::parity};  // that messages are on
  std::vector<Fault> faults;
  std::vector<RecordedSteps> windows;  // none: all is recorded
  std::uint64_t max_log_bytes = 0;     // of a process's events, 0: no bound
  unsigned threads = 1;                // that write logs
  TruthDetail truth = TruthDetail::automatic;
  std::uint64_t truth_limit = 200'000;  // messages up to which `automatic` writes each
  bool help = false;

  const Fault* fault_of(std::int32_t rank, Fault::Kind kind) const {
    for (const Fault& fault : faults) {
      if (fault.rank == rank && fault.kind == kind) return &fault;
    }
    return nullptr;
  }
  bool uses(Comm comm) const { return std::find(comms.begin(), comms.end(), comm) != comms.end(); }
  bool is_missing(std::int32_t rank) const {
    return !faults.empty() && fault_of(rank, Fault::Kind::missing) != nullptr;
  }
};

// Reports what is wrong with the command line and what to type instead.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Options parse_options(const std::vector<std::string>& arguments);
std::string help_text();

}  // namespace uctrace::tracegen
