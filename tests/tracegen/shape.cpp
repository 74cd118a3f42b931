#include "tests/tracegen/shape.hpp"

#include <fmt/format.h>

#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

enum Subject : std::uint64_t { kHost = 1, kUid, kBase, kGpu };

std::int64_t spread(std::uint64_t hash, std::int64_t most) {
  return most == 0
             ? 0
             : static_cast<std::int64_t>(hash % (2 * static_cast<std::uint64_t>(most) + 1)) - most;
}

}  // namespace

std::int32_t Shape::leader_of(std::int32_t host) const {
  const std::int64_t ranks = std::int64_t{host} * options_.processes;
  return static_cast<std::int32_t>((ranks + options_.hosts - 1) / options_.hosts);
}

HostClock Shape::clock_of(std::int32_t host) const {
  constexpr std::int64_t kWall = 1'700'000'000'000'000'000;
  const std::uint64_t h = hash_of(seed(), kHost, host);
  // Hosts were booted at different times: up to 11 days before.
  const auto offset = static_cast<std::int64_t>(h % 1'000'000'000'000'000) + 1'000'000'000;
  if (host == 0) return {offset, 0, kWall};
  return {offset, spread(mix(h), options_.drift_ppb), kWall + spread(mix(h + 1), options_.skew_ns)};
}

std::string Shape::host_name(std::int32_t host) const { return fmt::format("node{}", host); }

std::string Shape::boot_id(std::int32_t host) const {
  const std::uint64_t h = hash_of(seed(), kHost, host, 1);
  return fmt::format("{:08x}-{:04x}-4000-8000-{:012x}", h >> 32, h >> 16 & 0xffff, host);
}

std::string Shape::log_name(std::int32_t rank) const {
  const std::int32_t host = host_of(rank);
  return fmt::format("{}-{}-4026531836-{}-{}.ulog", host_name(host), boot_id(host).substr(0, 8),
                     pid(rank), start_time(rank));
}

std::int32_t Shape::gpu_of(std::int32_t rank) const {
  return (rank - leader_of(host_of(rank))) % options_.gpus;
}

void Shape::fill_uuid(std::int32_t rank, unsigned char (&uuid)[16]) const {
  std::uint64_t h = hash_of(seed(), kGpu, host_of(rank), gpu_of(rank));
  for (unsigned char& byte : uuid) {
    byte = static_cast<unsigned char>(h >> 56);
    h = mix(h);
  }
}

std::string Shape::gpu_name(std::int32_t rank) const {
  unsigned char uuid[16];
  fill_uuid(rank, uuid);
  std::string text = host_name(host_of(rank)) + "/GPU-";
  for (std::size_t i = 0; i < sizeof uuid; ++i) {
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  }
  return text;
}

// Speeds are about what UCX's transports say of themselves.
InterfaceFacts Shape::interface(std::uint16_t id) const {
  switch (id) {
    case kSelf:
      return {"self", "memory0", "self", log::DeviceType::self, {0, 0, 19e9, 0}};
    case kPosix:
      return {"posix", "memory", "posix", log::DeviceType::shared_memory, {80e-9, 0, 12e9, 0}};
    case kCma:
      return {"cma", "memory", "cma", log::DeviceType::shared_memory, {80e-9, 0, 11e9, 0}};
    case kCudaCopy:
      return {"cuda_copy", "cuda", "cuda_cpy", log::DeviceType::accelerator, {8e-6, 0, 10e9, 0}};
    case kCudaIpc:
      return {"cuda_ipc", "cuda", "cuda_ipc", log::DeviceType::accelerator, {1e-6, 0, 24e9, 0}};
    default:
      break;
  }
  const int card = id - kFirstCard;
  if (options_.network == Network::tcp) {
    return {"tcp", fmt::format("eth{}", card), "tcp", log::DeviceType::network, {5e-6, 0, 0, 1e9}};
  }
  return {options_.network == Network::rc_mlx5 ? "rc_mlx5" : "dc_mlx5",
          fmt::format("mlx5_{}:1", card),
          fmt::format("mlx5_{}", card),
          log::DeviceType::network,
          {600e-9, 1e-9, 0, 12e9}};
}

std::uint64_t Shape::uid(std::int32_t rank) const { return hash_of(seed(), kUid, rank) | 1; }

std::uint64_t Shape::base(std::int32_t rank) const {
  return 0x550000000000 + (hash_of(seed(), kBase, rank) & 0x7fff) * 0x2000000;
}

std::uint64_t Shape::buffer(std::int32_t rank, std::uint16_t lane, std::uint32_t slot,
                            bool receives, bool on_gpu) const {
  const std::uint64_t room = (options_.max_bytes * 2 + 4096) & ~std::uint64_t{4095};
  const std::uint64_t place = (std::uint64_t{lane} * 64 + slot % 64) * 2 + (receives ? 1 : 0);
  return (on_gpu ? gpu_memory(rank) : base(rank) + 0x7000000000) + place * room;
}

bool Shape::has_comm(Comm comm, std::int32_t rank) const {
  return comm == Comm::inter     ? world_size(rank) > 1
         : comm == Comm::spawned ? options_.spawned > 0
                                 : true;
}

std::int32_t Shape::size_of(Comm comm, std::int32_t rank) const {
  switch (comm) {
    case Comm::parity:
      return (world_size(rank) - world_rank(rank) % 2 + 1) / 2;
    case Comm::inter:
      return world_size(rank) / 2;
    case Comm::spawned:
      return std::min(options_.processes, options_.spawned);
    default:
      return world_size(rank);
  }
}

std::int32_t Shape::member(Comm comm, std::int32_t rank, std::int32_t local) const {
  const std::int32_t own = world_rank(rank), first = first_of_world(rank);
  switch (comm) {
    case Comm::parity:
      return first + 2 * local + own % 2;
    case Comm::inter:
      return first + 2 * local + 1 - own % 2;
    case Comm::spawned:
      return (is_spawned(rank) ? 0 : options_.processes) + local;
    default:
      return first + local;
  }
}

std::string Shape::comm_name(Comm comm, std::int32_t rank) const {
  switch (comm) {
    case Comm::world:
      return "MPI_COMM_WORLD";
    case Comm::duplicate:
      return "work";
    case Comm::inter:
      return "both";
    case Comm::spawned:
      return "children";
    default:
      return world_rank(rank) % 2 == 0 ? "even" : "odd";
  }
}

std::uint64_t Shape::ucp_tag(Comm comm, std::int32_t local_source, std::int32_t tag,
                             bool collective, std::uint64_t side) const {
  const auto source = static_cast<std::uint64_t>(local_source);
  const auto number = static_cast<std::uint64_t>(comm);
  if (options_.mpi == Mpi::open_mpi) {
    // Collectives have negative tags.
    const std::int64_t signed_tag = collective ? -16 - std::int64_t{tag} : tag;
    return static_cast<std::uint64_t>(signed_tag) << 40 | source << 20 | number;
  }
  const std::uint64_t context = 0x10 * number + 8 * side + (collective ? 1 : 0);
  return context << 48 | source << 32 | static_cast<std::uint32_t>(tag);
}

std::uint64_t Shape::tag_mask(bool any_source) const {
  if (options_.mpi == Mpi::open_mpi) return any_source ? 0xffffff00000fffff : ~std::uint64_t{0};
  return any_source ? 0xffff00009fffffff : 0xffffffff9fffffff;
}

}  // namespace uctrace::tracegen
