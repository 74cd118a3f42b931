// What a process defines: itself, its interfaces, devices, endpoints, communicators, clock samples.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {
namespace {

using log::RecordType;

std::vector<std::uint64_t> words_of(std::string_view text) {
  std::vector<std::uint64_t> words((text.size() + 7) / 8);
  if (!text.empty()) std::memcpy(words.data(), text.data(), text.size());
  return words;
}

// Slots of an interface's table that lead through the shim: all that it has.
constexpr std::uint64_t kOffered = 0x3f00fdd3;
constexpr std::uint64_t kOfTags = 0xff0000;

}  // namespace

void ProcessLog::text(log::TextKind kind, std::uint64_t id, std::string_view text,
                      std::int64_t at_ns) {
  log::Text record{};
  record.head.a = static_cast<std::uint16_t>(kind);
  record.head.b = static_cast<std::uint32_t>(text.size());
  record.tick = clock_.tick(at_ns);
  record.id = id;
  lanes_[0].define(record, RecordType::text, words_of(text), at_ns);
}

void ProcessLog::define_process() {
  std::int64_t at = begin_.init_ns;
  const Options& options = shape_.options();
  text(log::TextKind::command_line, 0, "./stencil\n--generated", at);
  text(log::TextKind::executable, 0, "/home/user/stencil", at);
  text(log::TextKind::ucx_version, 0, options.protocols == 2 ? "1.16.0" : "1.13.1", at);
  text(log::TextKind::ucx_library, 0, "/usr/lib/libucp.so.0", at);
  text(log::TextKind::uct_library, 0, "/usr/lib/libuct.so.0", at);
  if (!options.windows.empty()) {
    text(log::TextKind::recording_when, 0, "pcontrol", at);
    if (options.windows.front().from > 0) text(log::TextKind::recording_when, 1, "pcontrol", at);
  }
  text(log::TextKind::mpi_library, 0,
       options.mpi == Mpi::mpich ? "MPICH Version: 4.0.2" : "Open MPI v4.1.4", at);
  for (std::size_t i = 1; i < kMpiFunctionNames.size(); ++i) {
    text(log::TextKind::mpi_function, i, kMpiFunctionNames[i], at);
  }
  for (std::size_t i = 0; options.protocols == 2 && i < kProtocolNames.size(); ++i) {
    text(log::TextKind::ucx_protocol, i + 1, kProtocolNames[i], at);
  }
  stacks_.define_modules(lanes_[0], at);
  if (shape_.has_gpu(rank_)) define_gpu();
  define_interfaces();
  log::UcpWorker worker{};
  at = begin_.init_ns + 100'000;
  worker.tick = clock_.tick(at);
  worker.handle = handle::kWorker;
  worker.uid = shape_.uid(rank_);
  worker.estimated_endpoints = static_cast<std::uint32_t>(options.processes);
  worker.estimated_processes_of_node =
      static_cast<std::uint32_t>(options.processes / options.hosts);
  lanes_[0].define(worker, RecordType::ucp_worker, {}, at);
  define_communicators();
  define_datatype(handle::kByte, "MPI_BYTE", log::Combiner::named, 1, 1, true);
  define_datatype(handle::kDouble, "MPI_DOUBLE", log::Combiner::named, 8, 8, true);
  define_datatype(handle::kRow, "column", log::Combiner::vector, 8, 64, false);
  lanes_[0].write_definitions();
}

void ProcessLog::define_interfaces() {
  for (std::uint16_t id = 1; id <= shape_.interfaces(); ++id) {
    if (!shape_.has_interface(rank_, id)) continue;
    const InterfaceFacts facts = shape_.interface(id);
    const std::int64_t at = begin_.init_ns + 1000 * id;
    log::UctInterface record{};
    record.head.a = id;
    record.tick = clock_.tick(at);
    record.handle = shape_.uct_endpoint(id, rank_, rank_) + 0x80000000;
    record.of_ucp = log::UctInterface::kByUcp;
    fill_text(record.transport, facts.transport);
    fill_text(record.device, facts.device);
    fill_text(record.memory_domain, facts.memory_domain);
    record.device_type = facts.type;
    record.speed = facts.speed;
    record.interface_address_bytes = 8;
    const bool matches = shape_.options().tag_offload && id >= kFirstCard;
    record.offered = record.hooked = kOffered | (matches ? kOfTags : 0);
    const std::uint64_t address = shape_.interface_address(rank_, id);
    lanes_[0].define(record, RecordType::uct_interface, {&address, 1}, at);
  }
}

void ProcessLog::define_gpu() {
  const std::int64_t at = begin_.init_ns + 500;
  log::GpuDriver driver{};
  driver.head.a = static_cast<std::uint16_t>(log::Vendor::cuda);
  driver.head.b = 12000;
  driver.tick = clock_.tick(at);
  driver.not_before_tick = clock_.tick(begin_.anchor_ns);
  lanes_[0].define(driver, RecordType::gpu_driver, {}, at);
  log::GpuDevice device{};
  device.head.a = 1;
  device.tick = clock_.tick(at);
  shape_.fill_uuid(rank_, device.uuid);
  std::memcpy(device.gpu_uuid, device.uuid, sizeof device.uuid);
  device.pci.bus = static_cast<std::uint8_t>(0x10 + shape_.gpu_of(rank_));
  device.memory_bytes = std::uint64_t{80} << 30;
  fill_text(device.name, "Generated GPU");
  lanes_[0].define(device, RecordType::gpu_device, {}, at);
  log::DeviceMemory memory{};
  memory.head.a = 1;
  memory.head.b = log::kFirstDeviceMemory;
  memory.tick = clock_.tick(at);
  memory.begin = shape_.gpu_memory(rank_);
  memory.bytes = Shape::kGpuMemoryBytes;
  memory.buffer_id = 7;
  memory.kind = log::DeviceMemoryKind::device;
  memory.flags = log::DeviceMemory::kAllocated;
  lanes_[0].define(memory, RecordType::device_memory, {}, at);
}

void ProcessLog::define_datatype(std::uint64_t handle, const char* name, log::Combiner combiner,
                                 std::uint64_t size, std::int64_t extent, bool contiguous) {
  log::Datatype record{};
  record.head.a = static_cast<std::uint16_t>(static_cast<unsigned>(combiner) |
                                             (contiguous ? log::Datatype::kContiguous : 0u));
  record.head.b = static_cast<std::uint32_t>(std::strlen(name));
  record.tick = clock_.tick(begin_.defined_ns + 40'000);
  record.handle = handle;
  record.size = size;
  record.extent = extent;
  lanes_[0].define(record, RecordType::datatype, words_of(name), begin_.defined_ns + 40'000);
}

std::uint64_t ProcessLog::uct_endpoint(std::uint16_t interface, std::int32_t peer,
                                       std::int64_t at_ns) {
  const std::uint64_t handle = shape_.uct_endpoint(interface, rank_, peer);
  std::uint8_t& met = met_[static_cast<std::size_t>(peer)];
  // Cards are used one a pair.
  const auto bit = static_cast<std::uint8_t>(1u << std::min<unsigned>(interface, kFirstCard));
  if ((met & bit) != 0) return handle;
  met |= bit;
  const std::int64_t at = std::min(at_ns, step_ns_) - 20;
  const auto define = [&](RecordType type, std::uint64_t address) {
    log::UctEndpoint record{};
    record.head.a = interface;
    record.tick = clock_.tick(at);
    record.handle = handle;
    record.address_bytes = address == 0 ? 0 : 8;
    lanes_[0].define(record, type, {&address, address == 0 ? std::size_t{0} : 1}, at);
  };
  if (!shape_.uses_endpoint_addresses(interface)) {
    define(RecordType::uct_endpoint, shape_.interface_address(peer, interface));
    return handle;
  }
  define(RecordType::uct_endpoint, 0);
  define(RecordType::uct_endpoint_address, shape_.endpoint_address(interface, rank_, peer));
  define(RecordType::uct_endpoint_connect, shape_.endpoint_address(interface, peer, rank_));
  return handle;
}

std::uint64_t ProcessLog::ucp_endpoint(std::int32_t peer, std::int64_t at_ns) {
  const std::uint64_t handle = shape_.ucp_endpoint(rank_, peer);
  std::uint8_t& met = met_[static_cast<std::size_t>(peer)];
  if ((met & 1) != 0) return handle;
  met |= 1;
  // The connection is made from both ends, whoever sends first.
  uct_endpoint(shape_.between(rank_, peer), peer, at_ns);
  log::UcpEndpoint record{};
  const std::int64_t at = std::min(at_ns, step_ns_) - 10;
  record.tick = clock_.tick(at);
  record.head.b = static_cast<std::uint32_t>(record.tick - clock_.tick(at - 10));  // and its lane
  record.handle = handle;
  record.worker = handle::kWorker;
  record.remote_uid = shape_.uid(peer);
  lanes_[0].define(record, RecordType::ucp_endpoint, {}, at);
  return handle;
}

void ProcessLog::define_end_of_window(std::int64_t at_ns) {
  log::HandleEnd record{};
  record.tick = clock_.tick(at_ns);
  record.handle = handle::kWindow;
  lanes_[0].define(record, RecordType::window_free, {}, at_ns);
}

void ProcessLog::define_file(Comm comm, std::int64_t at_ns) {
  log::File record{};
  record.tick = clock_.tick(at_ns);
  record.handle = shape_.file_handle(comm);
  record.communicator = shape_.comm_handle(comm);
  lanes_[0].define(record, RecordType::file, {}, at_ns);
}

void ProcessLog::define_end_of_file(Comm comm, std::int64_t at_ns) {
  log::HandleEnd record{};
  record.tick = clock_.tick(at_ns);
  record.handle = shape_.file_handle(comm);
  lanes_[0].define(record, RecordType::file_close, {}, at_ns);
}

// Neither way of a round trip takes just half of it.
void ProcessLog::define_clock_sample(std::int32_t host, log::ClockSample::End end,
                                     std::int64_t at_ns) {
  const HostClock peer = shape_.clock_of(host);
  const std::int64_t round_trip = shape_.options().round_trip_ns;
  const auto off =
      static_cast<std::int64_t>(shape_.uid(host) % static_cast<std::uint64_t>(round_trip));
  log::ClockSample record{};
  record.head.a = end;
  record.head.b = 50;
  record.tick = clock_.tick(at_ns);
  record.own_ns = static_cast<std::uint64_t>(clock_.monotonic_ns(at_ns));
  record.peer_ns =
      static_cast<std::uint64_t>(peer.monotonic_ns(at_ns + (off - round_trip / 2) * 3 / 4));
  record.round_trip_ns = static_cast<std::uint64_t>(round_trip);
  record.peer_clock = log::clock_name(shape_.boot_id(host), 4026531834);
  lanes_[0].define(record, RecordType::clock_sample, {}, at_ns);
}

void ProcessLog::define_tool_traffic(std::int64_t begin_ns, std::int64_t end_ns,
                                     std::uint64_t sends) {
  log::ToolTraffic record{};
  record.tick = clock_.tick(begin_ns);
  record.end_tick = clock_.tick(end_ns);
  record.sends = sends;
  lanes_[0].define(record, RecordType::tool_traffic, {}, end_ns);
}

}  // namespace uctrace::tracegen
