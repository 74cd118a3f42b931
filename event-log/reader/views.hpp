// The records of an event log as a reader sees them: checked, with their variable parts found.
//
// `r` is a copy of the fixed part; spans and string views live as long as the visit.
// Only LogFile::for_each_record() makes views, from the words of one record, which parse() checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "event-log/format/definitions.hpp"
#include "event-log/format/device_definitions.hpp"
#include "event-log/format/events.hpp"
#include "event-log/format/ucc_operations.hpp"

namespace uctrace::log {

using Words = std::span<const std::uint64_t>;
using Bytes = std::span<const std::byte>;

struct UctOperationView {
  UctOperation r;
  Id id = 0;                                   // 0 = none, and no completion follows
  std::optional<std::uint64_t> local, remote;  // addresses, if the operation has them
  Id parent = 0;                               // the operation in whose call it was posted; 0 =
                                               // none
  Words header;                                // first words of an active message
  TransferMemory memory{};                     // where it was asked for
  std::uint32_t stack = 0;                     // id of a Stack, 0 = none, as in the other events

  std::uint16_t interface_id() const { return r.head.a; }
  bool has_end() const { return id != 0 && (r.flags & UctOperation::kNoEnd) == 0; }
  Origin origin_kind() const { return static_cast<Origin>(r.source & 0xf); }
  Route route() const { return static_cast<Route>(r.source >> 4); }
  bool one_tick() const { return (r.marks & UctOperation::kOneTick) != 0; }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UctOperationView> parse(Words record);
};

struct UctCompletionView {
  UctCompletion r;

  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UctCompletionView> parse(Words record);
};

struct UctPendingView {
  UctPending r;

  std::uint16_t interface_id() const { return r.head.a; }
  PendingEvent event() const { return static_cast<PendingEvent>(r.head.b); }
  static std::optional<UctPendingView> parse(Words record);
};

struct MemoryCallView {
  MemoryCall r;

  MemoryFunction function() const { return static_cast<MemoryFunction>(r.head.a & 0xff); }
  Origin origin_kind() const { return static_cast<Origin>(r.head.a >> 8 & 0xf); }
  Route route() const { return static_cast<Route>(r.head.a >> 12); }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<MemoryCallView> parse(Words record);
};

struct KernelAccessView {
  KernelAccess r;

  MemoryFunction function() const { return static_cast<MemoryFunction>(r.head.a); }
  MemoryId memory() const { return r.head.b; }
  static std::optional<KernelAccessView> parse(Words record);
};

struct UctArrivalView {
  UctArrival r;
  Words header;

  std::uint16_t interface_id() const { return r.head.a; }
  std::uint32_t duration_ticks() const { return r.head.b; }
  bool one_tick() const { return (r.marks & UctArrival::kOneTick) != 0; }
  static std::optional<UctArrivalView> parse(Words record);
};

struct UcpOperationView {
  UcpOperation r;
  OperationMemory memory{};  // where it was asked for
  std::uint32_t stack = 0;

  UcpFunction function() const { return static_cast<UcpFunction>(r.head.a & 0xff); }
  std::uint8_t flags() const { return static_cast<std::uint8_t>(r.head.a >> 8); }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<UcpOperationView> parse(Words record);
};

struct UcpCompletionView {
  UcpCompletion r;  // sender_tag and length are 0 unless of_receive
  bool of_receive = false;

  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  bool has_arrival_tick() const { return (r.head.a & UcpCompletion::kArrivalTick) != 0; }
  static std::optional<UcpCompletionView> parse(Words record);
};

struct MpiCallView {
  MpiCall r;
  // Parts that the record lacks are kNone or 0.
  MpiPeer peer{MpiCall::kNone, MpiCall::kNone}, recv_peer{MpiCall::kNone, MpiCall::kNone};
  MpiVolume volume{}, recv_volume{};
  std::uint64_t request = 0;
  std::uint64_t caller = 0;
  std::uint32_t stack = 0;

  bool has(std::uint16_t part) const { return (parts() & part) != 0; }
  bool on_window() const { return r.head.type == RecordType::mpi_window_call; }
  bool on_file() const { return r.head.type == RecordType::mpi_file_call; }
  std::uint16_t function() const { return r.head.a % MpiCall::kMaxFunctions; }
  std::uint16_t parts() const { return r.head.a >> MpiCall::kFunctionBits; }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  static std::optional<MpiCallView> parse(Words record);
};

struct MpiRequestsView {
  MpiRequests r;
  Words handles;                          // of the call's requests, unless completed
  std::vector<std::uint32_t> ended;       // their positions, if completed
  std::vector<std::uint32_t> partitions;  // if it is a list of partitions

  bool completed() const { return (r.head.a & MpiRequests::kCompleted) != 0; }
  bool of_partitions() const { return (r.head.a & MpiRequests::kPartitions) != 0; }
  bool more() const { return (r.head.a & MpiRequests::kMore) != 0; }
  static std::optional<MpiRequestsView> parse(Words record);
};

struct LibraryCallView {
  LibraryCall r;
  std::uint64_t makers[LibraryCall::kMostMakers] = {};  // code that made tasks; 0 behind the last

  std::uint16_t function() const { return r.head.a; }
  std::int32_t status() const { return static_cast<std::int32_t>(r.head.b); }
  bool has_stack() const { return (r.flags & LibraryCall::kStack) != 0; }
  // One of the two, the other is 0.
  std::uint64_t caller() const { return has_stack() ? 0 : r.place; }
  std::uint32_t stack() const { return has_stack() ? static_cast<std::uint32_t>(r.place) : 0; }
  bool knows_bytes() const { return (r.flags & LibraryCall::kUnknownBytes) == 0; }
  std::optional<UccOperation> operation() const {
    const std::uint32_t number = r.flags >> LibraryCall::kOperationShift;
    return number != 0 ? std::optional(static_cast<UccOperation>(number - 1)) : std::nullopt;
  }
  static std::optional<LibraryCallView> parse(Words record);
};

struct TextView {
  Text r;
  std::string_view text;  // any bytes, not necessarily UTF-8

  TextKind kind() const { return static_cast<TextKind>(r.head.a & 0xff); }
  bool truncated() const { return (r.head.a >> 8 & Text::kTruncated) != 0; }
  static std::optional<TextView> parse(Words record);
};

struct UctInterfaceView {
  UctInterface r;
  std::string_view transport, device, memory_domain;
  Bytes device_address, interface_address;

  std::uint16_t interface_id() const { return r.head.a; }
  static std::optional<UctInterfaceView> parse(Words record);
};

// For uct_endpoint, uct_endpoint_address and uct_endpoint_connect, distinguished by type().
struct UctEndpointView {
  UctEndpoint r;
  Bytes device_address, address;

  RecordType type() const { return r.head.type; }
  std::uint16_t interface_id() const { return r.head.a; }
  static std::optional<UctEndpointView> parse(Words record);
};

// For every record that ends a handle, distinguished by type().
struct HandleEndView {
  HandleEnd r;

  RecordType type() const { return r.head.type; }
  static std::optional<HandleEndView> parse(Words record);
};

struct UcpWorkerView {
  UcpWorker r;

  static std::optional<UcpWorkerView> parse(Words record);
};

struct UcpEndpointView {
  UcpEndpoint r;

  static std::optional<UcpEndpointView> parse(Words record);
};

struct UcpConnectionView {
  UcpConnection r;
  ConnectionSide side() const { return static_cast<ConnectionSide>(r.head.a); }
  static std::optional<UcpConnectionView> parse(Words record);
};

struct CommunicatorView {
  Communicator r;
  std::vector<RankRun> runs;

  bool inter() const { return (r.head.a & Communicator::kInter) != 0; }
  bool truncated() const { return (r.head.a & Communicator::kTruncated) != 0; }
  bool has_members() const { return (r.head.a & Communicator::kMembers) != 0; }
  // World rank of a member of the own group; nothing beyond the known ones. Takes time by runs: a
  // false `count` costs no memory.
  std::optional<std::int32_t> world_rank(std::uint32_t rank) const;
  static std::optional<CommunicatorView> parse(Words record);
};

// For windows and files, distinguished by type().
struct WindowView {
  Window r;

  RecordType type() const { return r.head.type; }
  static std::optional<WindowView> parse(Words record);
};

struct DatatypeView {
  Datatype r;
  std::string_view name;

  Combiner combiner() const { return static_cast<Combiner>(r.head.a & 0xff); }
  bool contiguous() const { return (r.head.a & Datatype::kContiguous) != 0; }
  static std::optional<DatatypeView> parse(Words record);
};

struct StackView {
  Stack r;
  Words addresses;  // innermost first

  std::uint32_t id() const { return r.head.b; }
  bool truncated() const { return (r.head.a & Stack::kTruncated) != 0; }
  bool lost() const { return (r.head.a & Stack::kLost) != 0; }
  static std::optional<StackView> parse(Words record);
};

struct ModuleView {
  Module r;
  Bytes build_id;
  std::string_view path;

  static std::optional<ModuleView> parse(Words record);
};

struct RecordingSwitchView {
  RecordingSwitch r;

  bool on() const { return (r.head.a & RecordingSwitch::kOn) != 0; }
  SwitchCause cause() const { return static_cast<SwitchCause>(r.head.a >> 8); }
  std::uint32_t number() const { return r.head.b; }
  static std::optional<RecordingSwitchView> parse(Words record);
};

struct ClockSampleView {
  ClockSample r;

  ClockSample::End end() const { return static_cast<ClockSample::End>(r.head.a); }
  std::uint32_t round_trips() const { return r.head.b; }
  static std::optional<ClockSampleView> parse(Words record);
};

struct ToolTrafficView {
  ToolTraffic r;

  static std::optional<ToolTrafficView> parse(Words record);
};

struct GpuDriverView {
  GpuDriver r;

  Vendor vendor() const { return static_cast<Vendor>(r.head.a); }
  static std::optional<GpuDriverView> parse(Words record);
};

struct GpuDeviceView {
  GpuDevice r;
  std::string_view name;

  std::uint16_t number() const { return r.head.a; }
  Vendor vendor() const { return static_cast<Vendor>(r.head.b >> GpuDevice::kVendorShift); }
  static std::optional<GpuDeviceView> parse(Words record);
};

struct DeviceMemoryView {
  DeviceMemory r;

  std::uint16_t device() const { return r.head.a; }  // number of a GpuDevice, 0 = none
  MemoryId id() const { return r.head.b; }
  static std::optional<DeviceMemoryView> parse(Words record);
};

struct DeviceMemoryEndView {
  DeviceMemoryEnd r;

  MemoryEnd how() const { return static_cast<MemoryEnd>(r.head.a); }
  MemoryId id() const { return r.head.b; }
  static std::optional<DeviceMemoryEndView> parse(Words record);
};

struct UcxDeviceView {
  UcxDevice r;
  std::string_view name;

  std::uint16_t number() const { return r.head.a; }
  static std::optional<UcxDeviceView> parse(Words record);
};

struct FaultView {
  Fault r;
  std::string_view detail;

  FaultCode code() const { return static_cast<FaultCode>(r.head.a); }
  static std::optional<FaultView> parse(Words record);
};

}  // namespace uctrace::log
