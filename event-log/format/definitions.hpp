// Records of the definition stream: what the handles and numbers of the events stand for. They are
// never overwritten, and continue while recording is switched off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event-log/format/file_layout.hpp"
#include "event-log/format/fnv.hpp"

namespace uctrace::log {

// `length` bytes of text follow, padded to a word. Longer texts are cut (kTruncated in `flags`).
struct Text {
  static constexpr std::uint16_t kTruncated = 1;
  Head head;  // a: TextKind | flags << 8, b: length
  std::uint64_t tick;
  std::uint64_t id;
};
static_assert(sizeof(Text) == 24);

// What a transport reports about an interface (uct_iface_attr_t), from which UCX estimates times.
// All 0: it did not answer.
struct InterfaceSpeed {
  double latency_s, latency_per_endpoint_s;
  // Bytes a second: for each process, and for all processes of the node together.
  double own_bandwidth, shared_bandwidth;
};
static_assert(sizeof(InterfaceSpeed) == 32);

// device_address_bytes, then interface_address_bytes of address follow (each padded to a word).
struct UctInterface {
  // kByBypassedUcp: opened by a libucp whose calls bypass the shims.
  static constexpr std::uint64_t kByUcp = 1, kByBypassedUcp = 2;
  Head head;  // a: interface id (never reused), b: ep_address_bytes
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t of_ucp;  // kByUcp, kByBypassedUcp, or 0 = by the program itself
  char transport[16];
  char device[32];
  char memory_domain[16];
  std::uint16_t device_address_bytes;
  std::uint16_t interface_address_bytes;
  DeviceType device_type;
  std::uint8_t reserved[3];
  std::uint64_t offered;  // bits 1 << UctHook of the slots that the interface's table has
  std::uint64_t hooked;   // of those, the ones that lead through the shim
  InterfaceSpeed speed;
};
static_assert(sizeof(UctInterface) == 152);

// Close and destroy records have the same shape: something with this handle ended at `tick`.
struct HandleEnd {
  Head head;  // a: interface id where it is an interface
  std::uint64_t tick;
  std::uint64_t handle;
};
static_assert(sizeof(HandleEnd) == 24);

// uct_endpoint: created (address = remote interface, may be empty). uct_endpoint_address: own
// endpoint address. uct_endpoint_connect: address = remote endpoint. The device address and then
// the interface or endpoint address follow, each padded to a word.
struct UctEndpoint {
  Head head;  // a: interface id
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint16_t device_address_bytes;
  std::uint16_t address_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(UctEndpoint) == 32);

struct UcpWorker {
  Head head;  // a: number of its libucp, as in the texts ucx_version and ucx_library
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t uid;  // 0 = could not be read
  // What the program told UCX about its job when it made the context (ucp_params_t); UCX takes 1 if
  // it stated nothing. 0 = the creation of the context was not seen.
  std::uint32_t estimated_endpoints, estimated_processes_of_node;
};
static_assert(sizeof(UcpWorker) == 40);

struct UcpEndpoint {
  Head head;  // b: ticks that its creation took (saturated); it ended at `tick`
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t worker;
  std::uint64_t remote_uid;  // 0 = the endpoint was not made from a worker address
};
static_assert(sizeof(UcpEndpoint) == 40);

// `address` is in network order: 4 bytes of IPv4 or 16 of IPv6.
struct SocketAddress {
  unsigned char address[16];
  std::uint16_t port;
  std::uint8_t version;  // 4 or 6, 0 = not known
  std::uint8_t reserved[5];
};
static_assert(sizeof(SocketAddress) == 24);

// A UCP endpoint made by socket address was connected, as the connection manager reported: the
// client before the server. Another thread may record it before the endpoint's creation has
// returned.
struct UcpConnection {
  Head head;  // a: ConnectionSide
  std::uint64_t tick;
  std::uint64_t handle;             // of the UCP endpoint
  std::uint64_t network_namespace;  // inode of /proc/thread-self/ns/net, 0 = not known
  SocketAddress local;
  SocketAddress remote;
};
static_assert(sizeof(UcpConnection) == 80);

// A run of world ranks: first, first + stride, ... (count of them).
struct RankRun {
  std::int32_t first;
  std::int32_t stride;
  std::uint32_t count;
  std::uint32_t reserved;
};
static_assert(sizeof(RankRun) == 16);

// A communicator as one member made it. From rank 0 of each group, `head.b` RankRuns follow
// (kMembers): world ranks of its group, in its order. kTruncated: more runs than a record holds, or
// processes of another world; the rest is unknown.
struct Communicator {
  static constexpr std::uint16_t kInter = 1, kTruncated = 2, kMembers = 4;
  Head head;  // a: flags, b: number of runs
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t parent;  // handle, 0 for the predefined ones
  std::uint32_t rank;
  std::uint32_t size;          // of the local group
  std::uint32_t function;      // MPI function number that made it
  std::uint32_t ordinal;       // 1, 2, ... of communicators made from `parent` in this process
  std::int32_t leader;         // world rank of rank 0 of the local group, -1 = of another world
  std::int32_t remote_leader;  // the same of the remote group, -1 too if there is none
  std::uint32_t remote_size;   // 0 if there is no remote group
  std::uint32_t reserved;
  // Hash of the members of both groups and the tag of the call that made it, the same in all
  // members. 0 if all processes of `parent` made the call: then the ordinal identifies it.
  std::uint64_t group_hash;
};
static_assert(sizeof(Communicator) == 72);

struct Window {
  Head head;
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t communicator;  // handle of the one it was made from
};
static_assert(sizeof(Window) == 32);

// An open file of MPI.
using File = Window;

// A datatype as it was when a call first used it. `head.b` bytes of its name follow, padded to a
// word, if it has a name.
struct Datatype {
  static constexpr std::uint16_t kContiguous = 1 << 8;  // no gaps, also between elements
  Head head;  // a: Combiner | kContiguous, b: bytes of the name
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t size;
  std::int64_t extent;
};
static_assert(sizeof(Datatype) == 40);

// A call stack. The addresses follow, innermost first, without frames of uctrace itself. Each is
// where a call returns to, or one beyond an instruction that a signal interrupted. So the call is
// just before the address.
inline constexpr std::size_t kMaxStackFrames = 128;
struct Stack {
  // kTruncated: there are more frames. kLost: the last frame's code does not show its caller.
  static constexpr std::uint16_t kTruncated = 1, kLost = 2;
  Head head;  // a: flags, b: id, from 1
  std::uint64_t tick;
};
static_assert(sizeof(Stack) == 16);

// Code that stacks lead through: the program or a library, from `begin` to `end`. An address of a
// stack belongs to the newest module that has it and is not later than the stack; else to the first
// later one. The build id and then the path follow (each padded to a word).
struct Module {
  Head head;  // a: bytes of the build id, b: bytes of the path
  std::uint64_t tick;
  std::uint64_t bias;  // its addresses in memory minus those in its file
  std::uint64_t begin;
  std::uint64_t end;
};
static_assert(sizeof(Module) == 40);

// Recording of events was switched on or off. Each lane follows by itself, at its next event at the
// latest: `tick` is when this lane did. The event at hand belongs to the state before the switch.
// The first event of a lane is an exception: a lane begins in the state of the process. Definitions
// and counters continue.
struct RecordingSwitch {
  static constexpr std::uint16_t kOn = 1;  // the cause is in the bits above
  Head head;  // a: kOn | SwitchCause << 8, b: number of the switch in its process
  std::uint64_t tick;
  std::uint64_t asked_tick;  // when the process was switched
  LaneCounters counters;     // of the lane until here; 0 at its first event
  std::uint64_t reserved[2];
};
static_assert(sizeof(RecordingSwitch) == 62 * 8);

// The clocks of two processes at one instant, found by messages to and fro: half of `round_trip_ns`
// bounds the error. It is about CLOCK_MONOTONIC_RAW of their kernels and time namespaces, not about
// the processes: it also places everything else that reads these clocks.
struct ClockSample {
  enum End : std::uint16_t { at_start = 0, at_end = 1, kEnds };
  Head head;  // a: End of the run, b: round trips that were made
  std::uint64_t tick;
  std::uint64_t own_ns;   // in the middle of the shortest round trip
  std::uint64_t peer_ns;  // what the other clock showed then
  std::uint64_t round_trip_ns;
  std::uint64_t peer_clock;  // clock_name() of the other one
};
static_assert(sizeof(ClockSample) == 48);

// What this lane posted until `end_tick` is traffic of uctrace itself
// (mpi-attribution/clock_sync.cpp).
struct ToolTraffic {
  Head head;
  std::uint64_t tick;  // when it began
  std::uint64_t end_tick;
  std::uint64_t sends;  // counted among those of the lane, recorded or not
};
static_assert(sizeof(ToolTraffic) == 32);

// Names the monotonic clock that a process reads: a time namespace shifts the clock of its kernel.
// Two processes with the same boot id and time namespace have one clock.
constexpr std::uint64_t clock_name(std::string_view boot_id, std::uint64_t time_namespace) {
  Fnv64 name;
  name.add(boot_id);
  for (int i = 0; i < 8; ++i) name.add(static_cast<std::uint8_t>(time_namespace >> (8 * i)));
  return name.value();
}

// `length` bytes of detail follow, padded to a word.
struct Fault {
  Head head;  // a: FaultCode, b: length
  std::uint64_t tick;
  Layer layer;
  std::uint8_t reserved[3];
  std::int32_t value;
};
static_assert(sizeof(Fault) == 24);

}  // namespace uctrace::log
