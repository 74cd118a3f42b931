// Layout of a counter file (docs/counters.md): what one process sent, to whom, how often and in
// which sizes, summed up while it runs. It lies beside the log of the process, with the same name
// but another ending. Any process may read it at any time: nothing in it is ever locked, moved or
// removed, and no number decreases.
//
// A file is a CounterPage and sections, each led by a CounterSection. Rows are in sections that one
// thread writes (a later thread may continue it), names in sections that all threads share. All
// integers are in host byte order.
//
// Rules of a reader:
// * A section is valid once it lies below CounterPage::written_bytes, which is stored last.
// * The first word of a row and of a name is stored last, by a release store. 0: it is not there
//   (yet). A row may lie anywhere in its section; names lie one behind the other.
// * Numbers are aligned words of 64 bits that are stored whole: load them one by one, relaxed. The
//   two numbers of a row may be a message apart.
// * Several rows may have one key: add them. Sums are modulo 2^64.
//
// Change a layout => bump kCounterVersion and docs/counters.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "event-log/format/device_definitions.hpp"
#include "event-log/format/kinds.hpp"

namespace uctrace::log {

inline constexpr char kCounterSuffix[] = ".counters";               // instead of a log's ".ulog"
inline constexpr std::uint64_t kCounterMagic = 0x31544e4352544355;  // "UCTRCNT1", little endian
inline constexpr std::uint32_t kCounterVersion = 1;
inline constexpr std::size_t kCounterPageBytes = 4096;

// What a row counts, and what its subject is.
enum class CounterKind : std::uint8_t {
  // Messages that this process sent to a peer, by who requested them. external: a point-to-point
  // call of the program (without MPI: a UCP send). internal: MPI itself, mostly below its
  // collectives.
  external = 1,
  internal = 2,
  // One-sided operations of MPI on the memory of a peer: data that went there, and data that came.
  one_sided_sent = 3,
  one_sided_received = 4,
  // Data that collective calls of MPI imply for a peer, whatever messages carry it.
  collective = 5,
  // The same, of calls that imply as much for each other member: the subject is a communicator. A
  // reader adds `messages` and `bytes` to each of its members.
  collective_each = 6,
  // Collective calls on a communicator, by who sends to whom. Those that move nothing (barriers)
  // are calls of 0 bytes.
  one_to_all = 7,
  all_to_one = 8,
  all_to_all = 9,
  // Operations that were handed to UCT: the subject is the number of an interface, and above it
  // (kCounterOpShift) the UctOp. Bytes are those handed down, headers included.
  interface = 10,
  // Calls of an MPI function, and what they sent. The subject is its number.
  mpi_function = 11,
  // UCP operations whose data lay in memory of a GPU, or in memory that a driver could not
  // identify. The subject is the number of the GPU's name, 0 = not known, and flags above it: see
  // kDataReceived.
  gpu = 12,
};
inline constexpr std::size_t kCounterKinds = 16;  // with room for more

constexpr bool names_peer(CounterKind kind) {
  return kind >= CounterKind::external && kind <= CounterKind::collective;
}

// Geometric size bins, as in "Online Dynamic Monitoring of MPI Communications": bin 0 is for no
// bytes, bin k for 2^(k-1) to 2^k - 1 bytes. The last one never occurs.
inline constexpr std::size_t kSizeBins = 66;
constexpr unsigned size_bin(std::uint64_t bytes) {
  return static_cast<unsigned>(std::bit_width(bytes));
}

// --- rows
// ------------------------------------------------------------------------------------------

// kind << 56 | bin << 48 | subject. 0 is no key.
using CounterKey = std::uint64_t;
inline constexpr unsigned kCounterSubjectBits = 48;
inline constexpr std::uint64_t kCounterSubjectMask = (std::uint64_t{1} << kCounterSubjectBits) - 1;
inline constexpr unsigned kCounterOpShift = 32;

// Subjects of rows about a peer: a rank in MPI_COMM_WORLD; with kNamedPeer, the number of a
// NameKind::peer; or kUnknownPeer, if it could not be named.
inline constexpr std::uint64_t kNamedPeer = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kUnknownPeer = kCounterSubjectMask;

constexpr CounterKey counter_key(CounterKind kind, unsigned bin, std::uint64_t subject) {
  return static_cast<CounterKey>(kind) << 56 | static_cast<CounterKey>(bin) << kCounterSubjectBits |
         (subject & kCounterSubjectMask);
}
constexpr CounterKind kind_of(CounterKey key) { return static_cast<CounterKind>(key >> 56); }
constexpr unsigned bin_of(CounterKey key) { return key >> kCounterSubjectBits & 0xff; }
constexpr std::uint64_t subject_of(CounterKey key) { return key & kCounterSubjectMask; }

// Flags in subjects of rows about GPUs, beside the number. kDataReceived: data was received into
// the memory, else it was sent from there. kManagedMemory: the memory migrates between GPU and
// host.
inline constexpr std::uint64_t kDataReceived = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kManagedMemory = std::uint64_t{1} << 33;

struct CounterRow {
  CounterKey key;  // stored last
  std::uint64_t messages;
  std::uint64_t bytes;
  std::uint64_t reserved;
};
static_assert(sizeof(CounterRow) == 32);

// --- names
// -----------------------------------------------------------------------------------------

// What the numbers in subjects stand for. A later name of the same kind and number replaces an
// earlier one.
enum class CounterNameKind : std::uint8_t {
  worker = 1,        // value: the uid of a UCP worker of this process
  peer = 2,          // value: the uid of the peer's worker, 0 = not known
  interface = 3,     // text: transport "/" device, as "rc_mlx5/mlx5_0:1"
  communicator = 4,  // value: CommunicatorName::size..., then RankRuns of its members; see below
  communicator_label = 5,  // text: its name; the number is the communicator's
  mpi_function = 6,        // text, as "MPI_Send"
  gpu = 7,                 // value: its Vendor; a CounterGpu
  library = 8,             // text: what MPI says of itself
};

// Leads a name. `words` are the 8-byte words behind it; a text is padded with zeros.
struct CounterName {
  CounterNameKind kind;
  std::uint8_t reserved;
  std::uint16_t words;
  std::uint32_t number;
  std::uint64_t value;
};
static_assert(sizeof(CounterName) == 16);
inline constexpr std::size_t kMaxNameWords = 256;

// What tells a GPU from all others; docs/log-format.md, GpuDevice.
struct CounterGpu {
  unsigned char uuid[16];      // of an instance, if the GPU is divided
  unsigned char gpu_uuid[16];  // of the whole GPU
  PciAddress pci;
};
static_assert(sizeof(CounterGpu) == 40);

// CounterName::value of a communicator: how many members it has, and what is known of them. As many
// RankRuns (definitions.hpp) of ranks in MPI_COMM_WORLD follow, in the order of its ranks.
inline constexpr std::uint64_t kCommunicatorSizeMask = 0xffffffff;
inline constexpr std::uint64_t kCommunicatorInter = std::uint64_t{1} << 32;  // members: the remote
                                                                             // group's
inline constexpr std::uint64_t kMembersUnknown = std::uint64_t{1} << 33;     // too many runs

// --- file
// ------------------------------------------------------------------------------------------

enum class CounterSectionKind : std::uint8_t { names = 1, rows = 2 };
inline constexpr std::uint32_t kCounterSectionMagic = 0x54434553;  // "SECT"

struct CounterSection {
  std::uint32_t magic;
  CounterSectionKind kind;
  std::uint8_t reserved0;
  std::uint16_t reserved1;
  std::uint64_t bytes;  // of the section, this header included: a multiple of 64
  std::uint64_t reserved2[6];
};
static_assert(sizeof(CounterSection) == 64);

// Counts that found no row, because no memory was ready. They are in no row, whoever they were for.
struct UnplacedCount {
  std::uint64_t messages;
  std::uint64_t bytes;
};

struct CounterPage {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t page_bytes;  // kCounterPageBytes
  char tool_version[16];
  // As in the process's log (ProcessPage).
  char host[64];
  char boot_id[40];
  std::uint64_t pid_namespace;
  std::uint64_t time_namespace;
  std::uint64_t start_time;
  std::uint32_t pid;
  std::uint32_t image;
  char job[64];
  std::int32_t world_rank;  // -1 until MPI_Init
  std::int32_t world_size;
  std::int32_t launch_rank;
  std::int32_t launch_size;
  Storage storage;      // drained: the file is a copy, made again every second and at the end
  std::uint8_t closed;  // 1: the process ended in an orderly way, and these are its last numbers
  std::uint8_t reserved0[6];
  std::uint64_t written_bytes;          // of the file that are whole
  std::uint64_t started_realtime_ns;    // CLOCK_REALTIME
  std::uint64_t heartbeat_realtime_ns;  // when the recorder last looked after the file, 0 = nobody
                                        // does
  std::uint64_t lost_names;             // names for which there was no room
  std::uint64_t reserved1[24];
  UnplacedCount unplaced[kCounterKinds];  // by CounterKind
};
static_assert(sizeof(CounterPage) <= kCounterPageBytes);

}  // namespace uctrace::log
