// The participants of the job: hosts and their clocks, processes, interfaces, communicators, and
// the names that logs give them. All of it follows from the options, so a process knows the
// contents of another one's log without reading it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "event-log/format/definitions.hpp"
#include "event-log/format/device_definitions.hpp"
#include "tests/tracegen/clocks.hpp"
#include "tests/tracegen/options.hpp"

namespace uctrace::tracegen {

// Ids of a process's interfaces. Cards follow each other from kFirstCard on.
enum InterfaceId : std::uint16_t {
  kNoInterface = 0,
  kSelf = 1,
  kPosix = 2,
  kCma = 3,
  kCudaCopy = 4,
  kCudaIpc = 5,
  kFirstCard = 6
};

struct InterfaceFacts {
  std::string transport, device, memory_domain;
  log::DeviceType type;
  log::InterfaceSpeed speed;
};

// Fills a field of fixed size, which has zeros behind the text.
template <std::size_t kSize>
void fill_text(char (&field)[kSize], const std::string& text) {
  text.copy(field, kSize - 1);
}

// What a log names by a handle that is the same in every process.
namespace handle {
inline constexpr std::uint64_t kWorker = 0x7f1000000010;
inline constexpr std::uint64_t kWindow = 0xa0000000;
inline constexpr std::uint64_t kCommSelf = 0x44000001;
inline constexpr std::uint64_t kByte = 0x4c00010d, kDouble = 0x4c00080b, kRow = 0x8c000000;
}  // namespace handle

class Shape {
 public:
  explicit Shape(const Options& options) : options_(options) {}

  const Options& options() const { return options_; }
  // Processes of all worlds. They are identified by numbers, which are world ranks in the first
  // one.
  std::int32_t size() const { return options_.processes + options_.spawned; }
  std::uint64_t seed() const { return options_.seed; }

  std::int32_t host_of(std::int32_t rank) const {
    const std::int64_t own = rank % options_.processes;  // a spawned one is where a first one is
    return static_cast<std::int32_t>(own * options_.hosts / options_.processes);
  }
  // The lowest rank of a host, which measures its clock.
  std::int32_t leader_of(std::int32_t host) const;
  HostClock clock_of(std::int32_t host) const;
  std::string host_name(std::int32_t host) const;
  std::string boot_id(std::int32_t host) const;
  std::uint32_t pid(std::int32_t rank) const { return 1000 + static_cast<std::uint32_t>(rank); }
  std::uint64_t start_time(std::int32_t rank) const {
    return 7000 + static_cast<std::uint64_t>(rank);
  }
  std::string log_name(std::int32_t rank) const;

  // --- devices

  bool has_gpu(std::int32_t rank) const { return options_.gpus > 0 && host_of(rank) % 2 == 0; }
  // Which of its host's GPUs a process uses.
  std::int32_t gpu_of(std::int32_t rank) const;
  std::string gpu_name(std::int32_t rank) const;  // "node0/GPU-...", as messages show it
  void fill_uuid(std::int32_t rank, unsigned char (&uuid)[16]) const;
  InterfaceFacts interface(std::uint16_t id) const;
  std::uint16_t interfaces() const {
    return static_cast<std::uint16_t>(kFirstCard + options_.cards - 1);
  }
  bool has_interface(std::int32_t rank, std::uint16_t id) const {
    return (id != kCudaCopy && id != kCudaIpc) || has_gpu(rank);
  }
  // Which card a pair of processes uses.
  std::uint16_t card_of(std::int32_t a, std::int32_t b) const {
    return static_cast<std::uint16_t>(kFirstCard + (a + b) % options_.cards);
  }
  // Over which interface two processes send each other active messages.
  std::uint16_t between(std::int32_t a, std::int32_t b) const {
    if (a == b) return kSelf;
    return host_of(a) == host_of(b) ? std::uint16_t{kPosix} : card_of(a, b);
  }
  bool uses_endpoint_addresses(std::uint16_t id) const {
    return id >= kFirstCard && options_.network == Network::rc_mlx5;
  }

  // --- names on the wire and in memory

  std::uint64_t uid(std::int32_t rank) const;
  std::uint64_t ucp_endpoint(std::int32_t rank, std::int32_t peer) const {
    return base(rank) + 0x20000000 + static_cast<std::uint64_t>(peer) * 88;
  }
  std::uint64_t connected_endpoint(std::int32_t rank, std::int32_t peer) const {
    return base(rank) + 0x30000000 + static_cast<std::uint64_t>(peer) * 88;
  }
  std::uint64_t uct_endpoint(std::uint16_t interface, std::int32_t rank, std::int32_t peer) const {
    return base(rank) + 0x40000000 + static_cast<std::uint64_t>(peer) * 0x800 + interface * 0x40u;
  }
  std::uint64_t interface_address(std::int32_t rank, std::uint16_t interface) const {
    return static_cast<std::uint64_t>(rank) << 8 | interface;
  }
  std::uint64_t endpoint_address(std::uint16_t interface, std::int32_t rank,
                                 std::int32_t peer) const {
    return static_cast<std::uint64_t>(rank) << 36 | static_cast<std::uint64_t>(peer) << 8 |
           interface;
  }
  // Room for the buffers of one lane's messages; `on_gpu` tells which memory.
  std::uint64_t buffer(std::int32_t rank, std::uint16_t lane, std::uint32_t slot, bool receives,
                       bool on_gpu) const;
  std::uint64_t gpu_memory(std::int32_t rank) const {
    return 0x7fa000000000 + base(rank) % 0x1000000000;
  }
  static constexpr std::uint64_t kGpuMemoryBytes = std::uint64_t{1} << 38;
  std::uint64_t program(std::int32_t rank) const { return base(rank) & ~std::uint64_t{0xfff}; }
  std::uint64_t window_memory(std::int32_t rank) const { return base(rank) + 0x100000000; }

  // --- communicators

  bool is_spawned(std::int32_t rank) const { return rank >= options_.processes; }
  std::int32_t first_of_world(std::int32_t rank) const {
    return is_spawned(rank) ? options_.processes : 0;
  }
  std::int32_t world_rank(std::int32_t rank) const { return rank - first_of_world(rank); }
  std::int32_t world_size(std::int32_t rank) const {
    return is_spawned(rank) ? options_.spawned : options_.processes;
  }
  // Whether there is one that the rank is in.
  bool has_comm(Comm comm, std::int32_t rank) const;
  // How many ranks exchange messages; of an intercommunicator on each side.
  std::int32_t size_of(Comm comm, std::int32_t rank) const;
  std::int32_t most_size_of(Comm comm) const {
    const std::int32_t first = size_of(comm, 0);
    return options_.spawned == 0 ? first : std::max(first, size_of(comm, options_.processes));
  }
  std::int32_t local_rank(Comm comm, std::int32_t rank) const {
    const std::int32_t own = world_rank(rank);
    return comm == Comm::parity || comm == Comm::inter ? own / 2 : own;
  }
  // Whom `rank` addresses as `local`.
  std::int32_t member(Comm comm, std::int32_t rank, std::int32_t local) const;
  std::uint64_t comm_handle(Comm comm) const {
    return comm == Comm::world ? 0x44000000 : 0x84000000 + static_cast<std::uint64_t>(comm);
  }
  // MPI duplicates the communicator of a file: for its own messages.
  static Comm comm_of_file(Comm comm) {
    return static_cast<Comm>(kComms + static_cast<std::size_t>(comm));
  }
  std::uint64_t file_handle(Comm comm) const {
    return 0x5500000000 + 0x100 * static_cast<std::uint64_t>(comm);
  }
  // As reports name it.
  std::string comm_name(Comm comm, std::int32_t rank) const;

  // The 64-bit tag of a message from a rank of a communicator; the mask of a receive of it.
  std::uint64_t ucp_tag(Comm comm, std::int32_t local_source, std::int32_t tag, bool collective,
                        std::uint64_t side = 0) const;
  // Of MPICH each side of an intercommunicator has a context of its own for what it sends.
  std::uint64_t side_of(Comm comm, std::int32_t rank) const {
    if (options_.mpi != Mpi::mpich) return 0;
    return comm == Comm::inter     ? static_cast<std::uint64_t>(world_rank(rank) % 2)
           : comm == Comm::spawned ? static_cast<std::uint64_t>(is_spawned(rank))
                                   : 0;
  }
  std::uint64_t tag_mask(bool any_source) const;

 private:
  // Where the memory of a process lies: apart from that of others, as under address randomisation.
  std::uint64_t base(std::int32_t rank) const;

  Options options_;
};

}  // namespace uctrace::tracegen
