// One job according to its logs, before anything is linked. Private to log-merger/.
//
// Times are nanoseconds on the job clock. Operations and arrivals are addressed by index into the
// job's vectors; ids of the logs are resolved through ProcessLog's maps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/clocks/clock_offsets.hpp"
#include "log-merger/folder/log_set.hpp"
#include "log-merger/job/call_requests.hpp"
#include "log-merger/job/communicator.hpp"
#include "log-merger/job/devices.hpp"
#include "log-merger/job/findings.hpp"
#include "log-merger/job/id_map.hpp"
#include "log-merger/job/job_rows.hpp"
#include "log-merger/job/library_calls.hpp"
#include "log-merger/job/memory_calls.hpp"
#include "log-merger/job/merge_options.hpp"
#include "log-merger/job/operations.hpp"
#include "log-merger/job/operations_of_messages.hpp"
#include "log-merger/job/recorded.hpp"
#include "log-merger/job/rows_by_handle.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/parallel/workers.hpp"

namespace uctrace::merge {

// A call stack as recorded by its process.
struct TakenStack {
  std::uint32_t id = 0;
  bool truncated = false;
  std::uint64_t tick = 0;
  std::vector<std::uint64_t> addresses;
};

// Code of a process.
struct Module {
  std::uint64_t tick = 0, bias = 0, begin = 0, end = 0;
  std::string path, build_id;  // the latter as its bytes
};

struct Interface {
  std::uint16_t id = 0;  // used again after its end
  bool of_ucp = false;
  bool bypassed = false;  // of a UCP whose calls are not in the log
  bool is_self = false;   // UCX's transport to the same worker
  TextId transport = kNoText, device = kNoText, memory_domain = kNoText;
  std::string address;                    // device and interface address: its name for the peers
  std::uint64_t offered = 0, hooked = 0;  // bits of log::UctHook
  std::uint64_t tick = 0, end_tick = UINT64_MAX;
  std::uint64_t worker = 0, worker_tick = 0;  // the UCP worker that opened it; names its row
  log::DeviceType device_type = log::DeviceType::unknown;
  log::InterfaceSpeed speed{};
};

// A UCT endpoint from its creation on; handles are reused, rows are not.
struct Endpoint {
  std::uint64_t handle = 0, tick = 0;
  std::uint16_t interface_id = 0;
  InterfaceIndex interface;
  std::string remote;       // address of the remote interface or endpoint
  std::string own_address;  // its own endpoint address, if asked for
  bool to_endpoint = false;
  std::uint64_t connected_tick = 0;
  std::uint64_t destroyed_tick = UINT64_MAX;
  ProcessIndex peer_process;
  std::uint64_t peer_uid = 0;  // of the UCP worker at the other end, 0 if not known
  TextId remote_device = kNoText;
};

// A UCP worker and its process. kNone: that left no log, or is not known.
struct Peer {
  ProcessIndex process;
  std::uint64_t uid = 0;
};

// How the peer of a UCP endpoint was found, in the order of the attempts.
enum class PeerBy : std::uint8_t { none, worker_address, connection, transfers };

// A client-server connection as seen by one end: "127.0.0.1:5000", "[::1]:5000".
struct Connection {
  log::ConnectionSide side = log::ConnectionSide::client;
  std::uint64_t network_namespace = 0;
  std::int64_t connected_ns = -1;
  std::string local, remote;
  bool loopback = false;
};

struct UcpEndpoint {
  std::uint64_t handle = 0, tick = 0, remote_uid = 0;
  std::uint64_t worker = 0;
  std::uint64_t begin_tick = 0;         // when its creation began; it ended at `tick`
  std::uint64_t end_tick = UINT64_MAX;  // the program released its handle
  std::optional<Connection> connection;
  // results
  Peer peer;
  PeerBy peer_by = PeerBy::none;
  std::uint64_t operations = 0;
};

struct Worker {
  std::uint64_t handle = 0, tick = 0, uid = 0;
  std::uint16_t lane = 0;  // of the thread that made it
  std::uint64_t end_tick = UINT64_MAX;
  std::uint16_t library = 0;                                               // number of its libucp
  std::uint32_t estimated_endpoints = 0, estimated_processes_of_node = 0;  // as log::UcpWorker
  // result
  std::uint64_t operations = 0;  // posted to the interface itself, not to an endpoint
};

// A window or a file.
struct CommObject {
  std::uint64_t handle = 0, tick = 0;
  CommIndex comm;  // that it was made from
};

enum class MpiFlavour : std::uint8_t { none, open_mpi, mpich };

// A libucp that a process called.
struct UcpLibrary {
  TextId path = kNoText;
  std::string version;
  bool names_places = true;  // ucx::Release::names_places

  // Major and minor; zeros if it is not known.
  std::pair<unsigned, unsigned> number() const {
    std::pair<unsigned, unsigned> found{};
    const bool ok = std::sscanf(version.c_str(), "%u.%u", &found.first, &found.second) == 2;
    return ok ? found : std::pair<unsigned, unsigned>{};
  }
};

// A libuct that a process recorded from.
struct UctLibrary {
  std::string path;
  bool is_rebuilt;
};

// The end of a receive that began outside the recorded windows.
struct OutsideReceive {
  ProcessIndex process;
  log::Id operation = 0;
  std::uint64_t sender_tag = 0;
  std::int64_t end_ns = -1;
};

// "name=value" that does not come from the environment.
struct TakenSetting {
  std::uint64_t from = 0;  // a log::SettingFrom
  std::string text;
};

// A time during which a lane's thread worked for uctrace itself.
struct ToolTraffic {
  std::uint16_t lane = 0;
  std::uint64_t begin_tick = 0, end_tick = 0;
  std::uint64_t sends = 0;
};

// Contradictions among the records of a log, each of which is well-formed.
struct RecordFaults {
  std::uint64_t backward = 0;      // ended before an earlier one of their lane began
  std::uint64_t repeated_ids = 0;  // that another record has
  std::uint64_t foreign_ids = 0;   // not from their lane
  std::uint64_t unknown_interfaces = 0, unknown_endpoints = 0;  // operations and arrivals there
  std::uint64_t useless_ends = 0;  // for no operation, or for one that had already ended
};

// Rows [begin, end) of one of the job's vectors.
struct RowSpan {
  std::size_t begin = 0, end = 0;
};

struct ProcessLog {
  ProcessLog(log::LogFile file_in) : file(std::move(file_in)), clock(file.clock()) {}

  log::LogFile file;
  log::ClockFit clock;
  Rows<Interface> interfaces;       // by id, then tick
  Rows<Endpoint> endpoints;         // by handle, then tick
  Rows<UcpEndpoint> ucp_endpoints;  // by handle, then tick
  Rows<Worker> workers;             // by handle, then tick
  Rows<Comm> comms;                 // by handle, then tick
  Rows<CommObject> windows, files;  // by handle, then tick
  std::vector<TakenStack> stacks;
  std::vector<Module> modules;  // by tick
  std::vector<ToolTraffic> tool_traffic;
  std::unordered_map<std::uint32_t, StackIndex> stack_rows;  // by their id
  std::vector<std::vector<CallIndex>> calls_of_lane;         // MPI calls by start
  std::unordered_map<CallIndex, CallRequests> call_requests;
  std::unordered_map<CallIndex, CallPartitions> call_partitions;
  // For each call that starts requests: the calls that made them, in the order of its arguments.
  std::unordered_map<CallIndex, std::vector<CallIndex>> makers_of_started;
  RowSpan uct_rows, arrival_rows, ucp_rows;  // its own
  IdMap<UcpIndex> ucp_by_id;
  IdMap<ArrivalIndex> arrival_by_id;
  IdMap<UctIndex> uct_by_id;
  std::map<std::uint16_t, UcpLibrary> ucp_libraries;  // by number
  std::string mpi_library, command_line, executable;
  std::string start_on, stop_on;  // when the user wanted events recorded
  std::vector<UctLibrary> uct_libraries;
  std::vector<std::string> environment;
  std::vector<TakenSetting> settings;   // from other places, in the order of precedence
  std::vector<TextId> mpi_functions;    // that the process ever called
  std::array<TextId, 256> protocols{};  // names of UCP's protocols by their number
  std::vector<std::pair<log::Fault, std::string>> faults;
  MpiFlavour flavour = MpiFlavour::none;
  log::LaneCounters totals{};  // over all lanes
  Recorded recorded;
  std::array<std::uint64_t, log::kDropKinds> events_by_kind{};     // in the log
  std::uint64_t uct_ends_of_outside = 0, ucp_ends_of_outside = 0;  // began before the window
  std::size_t monotonic_clock = 0;  // logs with the same number used the same one
  PendingTotals pending;
  MemoryCalls memory_calls;
  LibraryCalls library_calls;
  Devices devices;
  std::uint64_t backward_calls = 0;
  bool ucp_has_self_transport = false;
  RecordFaults record_faults;

  // The newest row with this id no later than `tick`, else its first; kNone: there is none.
  InterfaceIndex interface_at(std::uint16_t id, std::uint64_t tick) const;
  // The worker that had this handle at that time; kNone: none. A destroyed worker does not count:
  // an unknown UCX, whose workers are not recorded, may have reused its memory.
  IndexOf<Worker> worker_at(std::uint64_t handle, std::uint64_t tick) const;
  const Interface* interface(InterfaceIndex row) const {
    return row == kNone ? nullptr : &interfaces[row];
  }
  // The libucp that it called first; without path and version if not known.
  UcpLibrary ucp_library() const {
    return ucp_libraries.empty() ? UcpLibrary{} : ucp_libraries.begin()->second;
  }
  // If it called several different ones, prefers one that does.
  bool names_places() const {
    const auto names = [](const auto& numbered) { return numbered.second.names_places; };
    return ucp_libraries.empty() || std::ranges::any_of(ucp_libraries, names);
  }
  // In MPI_COMM_WORLD, else the launcher's if that is certain (load.cpp).
  std::int32_t rank() const {
    return file.page().world_rank >= 0 ? file.page().world_rank : launch_rank;
  }
  std::int32_t launch_rank = -1;
  Index world = kNone;  // its MPI_COMM_WORLD, kNone if it has none

  // No event that ended in [begin, end] is missing. If one bound is not known, at the other one.
  bool whole(std::int64_t begin_ns, std::int64_t end_ns) const;
  // Records of a kind that were lost.
  std::uint64_t dropped(log::DropKind kind) const {
    const auto place = static_cast<std::size_t>(kind);
    return totals.dropped[place] + file.page().dropped_without_lane[place];
  }
  // None of its calls is missing, except those just before its death.
  bool is_whole() const { return recorded.whole() && file.dropped_records() == 0; }
};

struct Job {
  Run run;  // texts, notes and the launcher's command are filled while loading
  Rows<ProcessLog> logs;
  Workers workers;  // that share the work
  // By process, and of each in the order of its log.
  JobRows<UctOp> uct;
  JobRows<Arrival> arrivals;
  JobRows<UcpOp> ucp;
  JobRows<MpiCall> calls;
  Rows<CommInstance> comms;
  std::vector<TimeShare> shares;  // by call
  std::vector<OutsideReceive> outside_receives;
  OperationsOfMessages operations_of;  // filled after the messages are made
  // Completion records whose operation was found: others are useless.
  std::uint64_t uct_completions = 0, ucp_completions = 0;
  std::uint64_t mpi_request_records = 0;
  // Whether events of any process are missing by the user's choice.
  bool partly_recorded() const {
    return std::any_of(logs.begin(), logs.end(),
                       [](const ProcessLog& log) { return !log.recorded.whole(); });
  }
  double clock_error_ns = 0;  // the largest known error of a time on the job's clock
  // For each monotonic clock, by number: its placement by measurements on the clock of the first
  // rank.
  std::vector<std::optional<PlacedClock>> clock_places;
  std::int64_t reference_zero_ns = 0;  // the zero of the job's clock, on the clock of the first
                                       // rank
  // Rows of Run::datatypes: name, combiner, size, extent, contiguous.
  std::map<std::tuple<TextId, TextId, std::uint64_t, std::int64_t, bool>, DatatypeIndex>
      datatype_rows;
  std::uint64_t unresolved_frames = 0;  // of distinct places of code
  std::size_t monotonic_clocks = 0;     // how many different ones the logs used
  Findings findings;
  std::vector<TopologyFile> topologies;
};

// The MPI call that a thread was in at `tick`: its outermost calls do not overlap.
CallIndex call_around(const Job& job, ProcessIndex process, std::uint16_t lane, std::uint64_t tick);

// The rows of each process. A job that was not loaded from logs has a single span of all rows.
std::vector<RowSpan> spans_of_processes(const Job& job, std::size_t rows,
                                        RowSpan ProcessLog::*of_process);

// Calls body(begin, end) for the rows of each process, processes in parallel.
template <typename Body>
void each_process_of(const Job& job, std::size_t rows, RowSpan ProcessLog::*of_process, Body body) {
  const std::vector<RowSpan> spans = spans_of_processes(job, rows, of_process);
  job.workers.each(spans.size(), [&](std::size_t i) { body(spans[i].begin, spans[i].end); });
}

// The operations of each process. In a job that was not loaded from logs all belong to one.
struct ProcessRows {
  RowSpan uct, ucp;
};
std::vector<ProcessRows> rows_of_processes(const Job& job);

// Calls body(rows) for the operations of each process, processes in parallel.
template <typename Body>
void each_process(const Job& job, Body body) {
  const std::vector<ProcessRows> rows = rows_of_processes(job);
  job.workers.each(rows.size(), [&](std::size_t i) { body(rows[i]); });
}

// Whether a receive with this status took a message, even a truncated one.
bool took_message(std::int32_t status);

// Translates a rank in the communicator of a call to a world rank; the marks for any, null and none
// stay.
std::int32_t world_rank(const Job& job, const MpiCall& call, std::int32_t peer);

// The process at the other end of an operation's endpoint; kNone if not known.
ProcessIndex peer_of(const Job& job, const UctOp& op);

// The placement of a process's clock on the job's; nullptr if only the wall clock places it.
const PlacedClock* place_of(const Job& job, ProcessIndex process);

// Times of two processes are comparable, with a known error, if both have the same class.
std::size_t clock_class(const Job& job, ProcessIndex process);
bool are_comparable(const Job& job, ProcessIndex a, ProcessIndex b);
std::optional<double> clock_error_ns(const Job& job, ProcessIndex a, std::int64_t a_ns,
                                     ProcessIndex b, std::int64_t b_ns);
// The same, as a duration that can be added.
std::optional<std::int64_t> clock_margin_ns(const Job& job, ProcessIndex a, std::int64_t a_ns,
                                            ProcessIndex b, std::int64_t b_ns);

// The steps, in this order.
Job load_job(LogSet logs, const MergeOptions& options);
void place_on_one_clock(Job& job);  // these are parts of load_job
void load_processes(Job& job);
void note_anomalies(Job& job);
void link_peers(Job& job);
void match_messages(Job& job);
void link_mpi(Job& job);
void attribute_transfers(Job& job);
void match_streams(Job& job);   // after the transfers: their headers name the streams
void resolve_stacks(Job& job);  // before the rows, which refer to the stacks
void build_rows(Job& job);      // messages, hops, transfers, UCP operations, MPI calls
void find_clock_violations(Job& job);
void note_clock_violations(Job& job);  // a part of it
struct Found;  // log-merger/audit/totals.hpp: what the records hold, counted once for both
void check_identities(Job& job, const Found& found);
void describe_run(Job& job, const Found& found);  // Run::info_json

}  // namespace uctrace::merge
