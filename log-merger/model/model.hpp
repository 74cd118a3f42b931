// The merged run: the merger's result for a folder of logs, the content of the store, and the only
// input of reports, exports and the page. Rows are plain; texts are interned.
//
// Times are nanoseconds on the job clock, from `Run::epoch_realtime_ns`. -1 = not known.
// docs/store-schema.md documents every column for people who read the file with other tools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log-merger/model/connection_rows.hpp"
#include "log-merger/model/kinds.hpp"
#include "log-merger/model/library_call_rows.hpp"
#include "log-merger/model/memory_call_rows.hpp"
#include "log-merger/model/partition_rows.hpp"
#include "log-merger/model/setting_rows.hpp"
#include "log-merger/model/sum_rows.hpp"
#include "log-merger/model/traffic_rows.hpp"
#include "log-merger/model/wait_rows.hpp"

namespace uctrace {

// Interned texts. Ids are dense and start at 0 with the empty text. Texts are plain
// (plain_text.hpp): they may be shown as they are.
class Texts {
 public:
  Texts() { intern(""); }
  TextId intern(std::string_view text);
  // The id of a text that was already interned, in its plain form; else kUnknownText.
  TextId find(std::string_view text) const;
  const std::string& operator[](TextId id) const { return texts_[id]; }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> texts_;
  std::unordered_map<std::string, TextId, Hash, std::equal_to<>> ids_;
};

struct Process {
  TextId key = kNoText;  // unique name in the job: host, boot, pid namespace, pid, start time
  TextId host = kNoText;
  std::uint32_t pid = 0;
  std::int32_t rank = -1;  // world rank, -1 = not an MPI process (yet)
  std::int32_t world_size = 0;
  std::int32_t world = -1;  // which MPI_COMM_WORLD, from 0; spawned ones after the others
  bool complete = false;    // the log was closed properly and nothing was dropped
  TextId exit = kNoText;    // finalized | exited | aborted | killed | running | unseen
  std::uint64_t events = 0;
  std::uint64_t log_bytes = 0;
  std::uint32_t ucp_libraries = 0;  // how many libucp it called
};

// One end-to-end message: the data of a UCP send and its receive, or a one-sided operation.
struct Message {
  MessageKind kind = MessageKind::tag;
  Match match = Match::unmatched;
  Side initiator = Side::src;
  ProtocolFrom protocol_from = ProtocolFrom::none;
  TimeFrom t_start_from = TimeFrom::clock, t_posted_recv_from = TimeFrom::clock,
           t_end_from = TimeFrom::clock;
  MemoryKind src_memory = MemoryKind::unknown;
  MemoryKind dst_memory = MemoryKind::unknown;
  bool first = false;  // the first one from its source to its destination process
  bool has_tag = false;
  bool asked_inferred = false;      // asked_function is: it was posted outside of that call
  std::int32_t tag = 0;             // MPI tag, if has_tag
  std::int32_t src = -1, dst = -1;  // world ranks, -1 = null
  std::int32_t src_process = -1, dst_process = -1;  // index into processes, -1 = null
  std::int32_t src_gpu = -1, dst_gpu = -1;          // into gpus, as in MemoryPlace
  std::uint64_t bytes = 0;                          // payload
  std::uint64_t ucp_tag = 0;
  TextId status = kNoText;  // UCS status name, e.g. UCS_OK
  TextId comm = kNoText;
  std::int32_t communicator = -1;  // into communicators
  TextId protocol = kNoText;
  std::int64_t call = -1;  // that requested it; into mpi_calls
  TextId mpi = kNoText;    // its function
  TextId mpi_recv = kNoText;
  TextId progressed_in = kNoText;  // the MPI function in which it happened to start
  // The call of a library above UCX other than MPI that asked for it. Of UCC also for which
  // collective operation, and by which algorithm and layers.
  TextId asked_library = kNoText, asked_function = kNoText;
  TextId asked_collective = kNoText, asked_algorithm = kNoText, asked_layers = kNoText;
  std::int32_t stack = -1, recv_stack = -1;  // of the calls that asked; into stacks, -1 = none
  std::int64_t t_start_ns = -1, t_posted_recv_ns = -1, t_end_ns = -1;
  std::int64_t t_error_ns = -1;           // relative clock error of the two sides
  std::int64_t wait_ns = 0;               // time that calls waited for its other side (Run::waits)
  std::int64_t registration_ns = 0;       // of both sides, in Run::memory_calls
  std::int64_t connection_ns = 0;         // time that it waited for a connection (Run::connections)
  std::uint32_t first_hop = 0, hops = 0;  // range in Run::hops
  TextId src_library = kNoText, dst_library = kNoText;  // path of that side's libucp

  MemoryPlace src_place() const { return {src_memory, src_gpu}; }
  MemoryPlace dst_place() const { return {dst_memory, dst_gpu}; }
};

// Part of a message's path, summed over its fragments.
struct Hop {
  std::uint32_t message = 0;
  // 0.. along the path from src to dst: copies at the source, transfers to the other side, copies
  // at the destination.
  std::uint16_t hop = 0;
  Side issued_by = Side::src;
  Role role = Role::data;
  bool exact = true;
  bool network = false;  // its devices are network cards
  TimeFrom t_last_from = TimeFrom::clock;
  // Unknown also if nothing moves, as in a flush.
  MemoryKind from_memory = MemoryKind::unknown, to_memory = MemoryKind::unknown;
  std::int32_t from_gpu = -1, to_gpu = -1;  // into gpus
  TextId transport = kNoText, device = kNoText, remote_device = kNoText, op = kNoText;
  std::uint64_t count = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t wire_bytes = 0;  // payload and headers passed to UCT
  std::int64_t t_first_ns = -1, t_last_ns = -1;

  MemoryPlace from() const { return {from_memory, from_gpu}; }
  MemoryPlace to() const { return {to_memory, to_gpu}; }
};

// One posted UCT operation that was accepted (OK or INPROGRESS).
struct Transfer {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;
  std::int64_t message = -1;  // index into messages, -1 = none
  TextId transport = kNoText, device = kNoText, memory_domain = kNoText, op = kNoText;
  TextId reason = kNoText;  // if link is Link::reason
  Link link = Link::unattributed;
  Role role = Role::data;
  bool network = false;    // its device is a network card
  std::uint8_t am_id = 0;  // 0 = not an active message
  MemoryKind from_memory = MemoryKind::unknown, to_memory = MemoryKind::unknown;  // as of a Hop
  std::int32_t from_gpu = -1, to_gpu = -1;                                        // into gpus
  TimeFrom t_end_from = TimeFrom::clock;
  std::int32_t status = 0;                              // ucs_status_t of the post
  std::uint64_t wire_bytes = 0;                         // as handed to UCT
  std::uint64_t payload_bytes = 0;                      // of the message among them
  std::uint64_t local_address = 0, remote_address = 0;  // 0 = the operation has none
  std::int64_t t_start_ns = -1, t_end_ns = -1;          // of the posting call
  std::int64_t t_complete_ns = -1;   // by its completion; t_end_ns if complete at return
  std::int64_t t_connected_ns = -1;  // when its endpoint was connected
  TextId progressed_in = kNoText;    // MPI function
  std::int32_t stack = -1;           // where it was posted; into stacks, -1 = none
};

struct MpiCallRow {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;  // recording thread
  TextId function = kNoText;
  TextId comm = kNoText;
  std::int32_t communicator = -1;  // into communicators
  std::int32_t peer = INT32_MIN,
               tag = INT32_MIN;  // world rank of the peer, or log::MpiCall's marks
  std::uint64_t bytes = 0;
  std::int32_t recv_peer = INT32_MIN, recv_tag = INT32_MIN;
  std::uint64_t recv_bytes = 0;
  std::int32_t datatype = -1, recv_datatype = -1;  // into datatypes, -1 = several, or no data
  std::int32_t status = 0;
  std::int32_t stack = -1;  // into stacks, -1 = none
  std::int64_t t_start_ns = -1, t_end_ns = -1;
};

// A datatype at its first use by a call. Datatypes with equal facts share a row, whoever made them.
struct Datatype {
  TextId name = kNoText;      // given by the program, or MPI's
  TextId combiner = kNoText;  // how it was made: named (MPI's own), vector, ...; unknown
  std::uint64_t size = 0;     // bytes of data
  std::int64_t extent = 0;    // from one element to the next
  bool contiguous = false;    // no gaps, also between elements
};

// A share of the time of an MPI call that waited for requests of several communicators, or of
// another one than its arguments name. The shares of a call add up to its time.
struct WaitShare {
  std::uint32_t call = 0;          // into mpi_calls
  std::int32_t communicator = -1;  // into communicators
  std::uint32_t requests = 0;      // that it waited for
  std::int64_t ns = 0;
};

struct UcpOperationRow {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;
  std::int64_t message = -1;
  std::uint64_t endpoint = 0;    // ucp_ep_h, 0 if it belongs to a worker
  std::uint64_t worker_uid = 0;  // of the endpoint's remote worker, else of its own
  TextId function = kNoText;
  TextId protocol = kNoText;
  TextId asked_by = kNoText, progressed_in = kNoText;
  TextId status = kNoText;
  std::int32_t stack = -1;                  // into stacks, -1 = none
  std::int64_t library_call = -1;           // it was posted within or for; into library_calls
  std::int32_t gpu = -1;                    // into gpus
  std::int32_t device_memory = -1;          // into device_memory, -1 = none
  TextId believed = kNoText;                // what UCX took the buffer for; kNoText: it did not
                                            // check
  MemoryKind memory = MemoryKind::unknown;  // of its buffer
  bool library_inferred = false;            // it was posted for its library_call, not within
  TimeFrom t_start_from = TimeFrom::clock, t_end_from = TimeFrom::clock;
  std::uint64_t bytes = 0, tag = 0, tag_mask = 0, buffer = 0;
  std::uint64_t remote_address = 0, reply_buffer = 0;  // one-sided operations, else 0
  std::uint64_t header_bytes = 0;                      // active messages: part of `bytes`
  std::uint64_t received_bytes = 0, sender_tag = 0;
  std::int64_t t_start_ns = -1, t_end_ns = -1;
};

// A calling place in the source, as far as known: with a line, else an offset.
struct CodeFrame {
  TextId function = kNoText, file = kNoText;
  TextId module = kNoText;    // path of the program or library
  TextId build_id = kNoText;  // in hex
  std::uint32_t line = 0;     // 0 = not known
  std::uint64_t offset = 0;   // of the call, in the module's file
  bool inlined = false;       // its code is part of the next frame's
};

// A call stack, the same one on all ranks.
struct CallStack {
  std::uint32_t first_frame = 0, frames = 0;  // range in Run::stack_frames, innermost first
  std::int32_t call_site = -1;  // into call_sites, -1 = all of it is in libraries of MPI or UCX
  bool truncated = false;       // there are more frames
};
struct StackFrame {
  std::uint32_t frame = 0;  // into frames
};

// Where the program calls MPI or UCX: its innermost frame outside their libraries. The same source
// line is one row, on all ranks and wherever it was loaded.
struct CallSite {
  TextId label = kNoText;  // "function (file:line)", or as much as is known
  TextId function = kNoText, file = kNoText, module = kNoText;
  std::uint32_t line = 0;
};

// A communicator, one row for all its processes. For an intercommunicator the first side is that of
// its name; `remote` means the second.
struct Communicator {
  TextId name = kNoText;       // W0.0, s0.1: unique in the run
  TextId user_name = kNoText;  // by the program or MPI, kNoText = none
  TextId function = kNoText;   // that made it, kNoText = none
  std::int32_t parent = -1;    // into communicators
  std::int32_t world = -1, remote_world = -1;
  std::int32_t leader = -1, remote_leader = -1;  // world rank of its rank 0, -1 = not known
  std::uint32_t size = 0, remote_size = 0;
  std::uint32_t first_member = 0, members = 0;  // range in Run::communicator_members
  bool complete = false;                        // all members are known
  std::int64_t created_ns = -1, freed_ns = -1;
};

// Members in the order of their ranks: `count` world ranks from `first` on, `stride` apart.
struct MemberRun {
  bool remote = false;  // of the second side
  std::int32_t first = 0, stride = 0;
  std::uint32_t count = 0;
};

// A GPU of a host, or the part of one that is a device of its own (MIG).
struct Gpu {
  TextId host = kNoText;
  TextId uuid = kNoText;      // GPU-..., of a part MIG-...: what tells it from all others
  TextId gpu_uuid = kNoText;  // of the whole GPU
  TextId bus = kNoText;       // 0000:10:00.0
  TextId name = kNoText;
  TextId vendor = kNoText;  // cuda, rocm, level_zero; kNoText = not known
  std::uint64_t memory_bytes = 0;
  std::int32_t numa = -1;  // node of memory that it is at, as the host counts; -1 = not known
};

// A network card of a host, or a port of one, that interfaces were opened on.
struct Nic {
  TextId host = kNoText;
  TextId device = kNoText;  // as UCT names it: mlx5_0:1, eth0
  TextId bus = kNoText;     // 0000:10:00.0; kNoText = on no PCI bus, or not known
  std::int32_t numa = -1;   // as of a Gpu
};

// What is between two devices of a host, by its topology; nearest first.
enum class Distance : std::uint8_t {
  unknown,
  pix,   // at most one PCI bridge
  pxb,   // several, but not the host's
  phb,   // a host bridge
  node,  // several host bridges of one NUMA node
  sys,   // NUMA nodes
};
const char* name_of(Distance);

// Message data between memory and a network card of the same host. There is a row for each pair of
// a GPU and a card of its host, and one for each other pair with traffic.
struct GpuNic {
  TextId host = kNoText;                    // kNoText = a process that left no log
  MemoryKind memory = MemoryKind::unknown;  // with `gpu`, as a MemoryPlace
  std::int32_t gpu = -1;                    // into gpus
  std::int32_t nic = -1;                    // into nics, -1 = not known
  Distance distance = Distance::unknown;    // of the GPU from the card
  // Of their NUMA nodes, as the firmware tells: 10 = the same one, 20 = twice as far. -1 = not
  // known.
  std::int32_t numa_distance = -1;
  std::uint64_t out_operations = 0, out_bytes = 0;  // from memory to the card; payload
  std::uint64_t in_operations = 0, in_bytes = 0;    // from the card to memory
  // Payload of messages from or to the GPU that went over the card through host memory; it is
  // included in the host's row.
  std::uint64_t out_staged_bytes = 0, in_staged_bytes = 0;

  MemoryPlace place() const { return {memory, gpu}; }
};

// Memory known to a driver, as a process saw it.
struct DeviceMemoryRow {
  std::uint32_t process = 0;
  std::int32_t gpu = -1;   // into gpus, -1 = on the host, or not known
  TextId kind = kNoText;   // device, pool, managed, mapped, mapped_host, pinned, imported
  bool allocated = false;  // from_ns is the allocation, else the first sight
  std::uint64_t address = 0, bytes = 0;  // bytes 0: its extent is not known
  std::int64_t from_ns = -1;
  std::int64_t alive_ns = -1;  // it certainly existed until then, -1 = to the end
  std::int64_t to_ns = -1;     // its end, -1 = never
};

enum class Verdict : std::uint8_t { holds, violated, incomplete };
const char* name_of(Verdict);

// left = right, counted independently. `scope` says over what.
struct Identity {
  std::string name, scope, statement;
  std::uint64_t left = 0, right = 0;
  Verdict result = Verdict::holds;
};

// The state of a file when it was read. For a log: closed by its process; the process was already
// dead; it ran; or it cannot be seen. unreadable: for a temporary reason. foreign: not a log of
// this version. other: a file beside the logs.
enum class SourceState : std::uint8_t { closed, dead, running, unseen, unreadable, foreign, other };
const char* name_of(SourceState);

// A file of the data folder from which the run was made, as it was before reading.
struct Source {
  std::string name;
  std::uint64_t inode = 0, bytes = 0;
  std::int64_t changed_ns = 0;  // when it was changed (ctime), by the clock of its file system
  SourceState state = SourceState::other;
};

struct Profile;  // log-merger/summaries/profile.hpp

struct Run {
  Texts texts;
  std::string run_id;   // of this job: key and time of the first process
  std::string command;  // as recorded by `uctrace record`, else of rank 0
  std::uint64_t epoch_realtime_ns = 0;
  std::int64_t last_ns = 0;     // the last instant of all rows, even if not all were read
  std::string store_id;         // shared by its store and its profile, and unique
  bool settled = false;         // its sources are final
  std::vector<Source> sources;  // by name
  std::vector<Process> processes;
  std::vector<Message> messages;    // by t_start_ns
  std::vector<Hop> hops;            // by message, then along the way
  std::vector<Transfer> transfers;  // by process, then time
  std::vector<UcpOperationRow> ucp_operations;
  std::vector<MpiCallRow> mpi_calls;
  std::vector<WaitShare> wait_shares;                // by call
  std::vector<Wait> waits;                           // by call
  std::vector<CallDependency> call_dependencies;     // by call
  std::vector<BegunCollective> begun_collectives;    // by process, begun, made
  std::vector<Delay> delays;                         // the greatest first
  std::vector<CriticalPart> critical_path;           // the greatest first
  std::vector<RankTime> rank_times;                  // by process; only of those that called MPI
  std::vector<PartitionRequest> partition_requests;  // by process, then their start
  std::vector<PartitionOperation> partition_operations;  // by request, then number
  std::vector<PartitionEvent> partition_events;          // by process, then time
  std::vector<PartitionLine> partition_lines;            // by send, then partitions
  std::vector<PartitionPolls> partition_polls;           // only of processes that have some
  std::vector<ConnectionRow> connections;   // by first message, -1 first, then process and time
  std::vector<MemoryCallRow> memory_calls;  // by message, -1 first, then process and time
  std::vector<RegistrationUse> registration_uses;  // by process
  std::vector<RegistrationSum> registration_sums;  // the longest own time first
  std::vector<KernelAccessRow> kernel_accesses;    // by process, then time
  std::vector<LibraryCallRow> library_calls;       // by process, lane, then start
  std::vector<Datatype> datatypes;
  std::vector<Communicator> communicators;
  std::vector<MemberRun> communicator_members;  // by communicator, then side
  std::vector<Gpu> gpus;
  std::vector<DeviceMemoryRow> device_memory;  // by process, then number
  std::vector<Nic> nics;                       // by host, then device
  std::vector<GpuNic> gpu_nic;                 // by host, then memory, GPU and card
  std::vector<CodeFrame> frames;
  std::vector<CallStack> stacks;
  std::vector<StackFrame> stack_frames;  // by stack
  std::vector<CallSite> call_sites;
  std::vector<Facet> facets;  // in their order
  // Which tables of sums exist: of calls; of messages and everything summed with them.
  bool calls_are_summed = false, messages_are_summed = false;
  std::vector<MessageSum> message_sums;
  std::vector<HopSum> hop_sums;  // by message sum
  std::vector<CallSum> call_sums;
  std::vector<OperationSum> operation_sums;
  std::vector<TransferSum> transfer_sums;
  std::vector<LatencySum> latency_sums;
  std::vector<EstimateRow> estimates;  // by reach, latency and bandwidth
  std::vector<Setting> settings;       // by place, then name, value and process
  // Of the whole run, for the page. slabs = 0: not there.
  std::int64_t slab_ns = 0;
  std::uint32_t slabs = 0;
  std::vector<PathStep> path_steps;
  std::vector<TrafficClass> traffic_classes;
  std::vector<ClassStep> class_steps;  // by class
  std::vector<TrafficCell> cells;
  std::vector<CellTotal> cell_totals;  // by cell
  std::vector<CallGroup> call_groups;
  std::vector<CellSlab> cell_slabs;         // by slab, then cell
  std::vector<TotalSlab> total_slabs;       // by slab, then total
  std::vector<SlabActivity> slab_activity;  // by layer, then process, kind, slab
  std::vector<RowBlock> row_blocks;         // by table
  std::vector<Identity> identities;
  std::vector<std::string> notes;  // what is missing, cut or doubtful, each one line for a person
  std::string info_json;           // the rest of `info --format json`, an object without identities
  // The result of profile_of() for these rows, if already computed; else nullptr. Not stored. Reset
  // it when rows change.
  std::shared_ptr<const Profile> profile;
};

// The value for Run::last_ns.
std::int64_t last_instant(const Run& run);

// "function (file:line)", or as much as is known.
std::string label_of(const Run& run, const CodeFrame& frame);

// "node1/GPU-...": the name of a GPU in reports and options.
std::string label_of(const Run& run, const Gpu& gpu);

// Row of the call site of a stack (Run::call_sites), -1 if there is none; and its label, kNoText.
std::int32_t call_site_at(const Run& run, std::int32_t stack);
TextId call_site_of(const Run& run, std::int32_t stack);

// The hops of a message, in their order.
inline std::span<const Hop> path_of(const Run& run, const Message& message) {
  return std::span(run.hops).subspan(message.first_hop, message.hops);
}

}  // namespace uctrace
